"""`python -m symscale` is `symscale`."""

from symscale.cli import main

main()
