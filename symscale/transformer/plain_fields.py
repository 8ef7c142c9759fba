"""Fields of a config that change no size, no FLOP and no byte: tokens, rotary angles, activations, scales, dropout."""

from __future__ import annotations

_WORDS = """
    model_type architectures torch_dtype dtype transformers_version auto_map name_or_path tokenizer_class prefix
    bos_token_id eos_token_id pad_token_id sep_token_id unk_token_id decoder_start_token_id
    use_cache initializer_range is_decoder is_encoder_decoder add_cross_attention cross_attention_hidden_size
    id2label label2id num_labels problem_type finetuning_task task_specific_params classifier_dropout pruned_heads
    chunk_size_feed_forward output_attentions output_hidden_states output_scores return_dict return_dict_in_generate
    torchscript use_bfloat16 use_return_dict tie_encoder_decoder gradient_checkpointing tf_legacy_loss
    attn_implementation cache_implementation pretraining_tp quantization_config
    max_length min_length do_sample early_stopping num_beams num_beam_groups diversity_penalty temperature top_k top_p
    typical_p repetition_penalty length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids
    num_return_sequences forced_bos_token_id forced_eos_token_id remove_invalid_values suppress_tokens
    begin_suppress_tokens exponential_decay_length_penalty
    rope_theta rope_scaling rope_parameters rope_type rope_ratio rope_local_base_freq rope_interleave rotary rotary_dim
    rotary_pct rotary_emb_base partial_rotary_factor no_rope_layers alibi
    position_embedding_type max_position_embeddings n_positions n_ctx seq_length original_max_position_embeddings
    initial_context_length
    hidden_act hidden_activation activation_function rms_norm_eps layer_norm_eps layer_norm_epsilon norm_eps
    norm_epsilon layernorm_epsilon
    dropout hidden_dropout hidden_dropout_prob attention_dropout activation_dropout layerdrop attn_pdrop embd_pdrop
    resid_pdrop residual_dropout embedding_dropout
    query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping logit_scale clip_qkv embedding_multiplier
    logits_scaling residual_multiplier attention_multiplier scale_attn_weights scale_attn_by_inverse_layer_idx
    reorder_and_upcast_attn attention_softmax_in_fp32 scale_attention_softmax_in_fp32 floor_scale attn_scale
    attn_temperature_tuning slow_but_exact apply_residual_connection_post_layernorm swiglu_limit
    router_aux_loss_coef router_z_loss_coef output_router_logits router_jitter_noise input_jitter_noise norm_topk_prob
    topk_method topk_group n_group scoring_func routed_scaling_factor aux_loss_alpha seq_aux ep_size experts_per_token
    moe_layer_freq num_nextn_predict_layers
    summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj
"""

PLAIN = frozenset(_WORDS.split())
