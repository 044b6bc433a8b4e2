"""GGUF files of the laboratory models, with the keys and tensor names that llama.cpp v0.5.0 reads."""
import gguf
import numpy
import torch

from lab.layers import EPSILON, HEAD, LONGEST, ROPE_BASE
from lab.tokenizer import VOCABULARY

FILE_TYPES = {"f16": 1, "f32": 0}


@torch.no_grad()
def round_as_f16_file(module):
    """Gives the module the weights that its F16 file has: matrices are rounded, norms are F32 there."""
    for weight in module.parameters():
        if weight.dim() > 1:
            weight.copy_(weight.half())
    return module


class GgufFile:
    """One file being written: matrices in `kind` ("f16" or "f32"), everything else in F32."""

    def __init__(self, path, architecture, name, tokenizer, kind):
        self.writer = gguf.GGUFWriter(str(path), architecture)
        self.architecture, self.kind = architecture, kind
        self.writer.add_name(name)
        self.writer.add_file_type(FILE_TYPES[kind])
        tokenizer.write_keys(self.writer)
        self.number("vocab_size", VOCABULARY)

    def number(self, key, value):
        self.writer.add_uint32(f"{self.architecture}.{key}", value)

    def numbers(self, key, values, signed=False):
        kind = gguf.GGUFValueType.INT32 if signed else gguf.GGUFValueType.UINT32
        values = [int(value) for value in values]
        self.writer.add_key_value(f"{self.architecture}.{key}", values, gguf.GGUFValueType.ARRAY, kind)

    def truth(self, key, value):
        self.writer.add_bool(f"{self.architecture}.{key}", value)

    def shape(self, shape, blocks):
        """The keys that every architecture has. shape: width, heads, key_value_heads, hidden."""
        sizes = {
            "context_length": LONGEST,
            "embedding_length": shape["width"],
            "block_count": blocks,
            "feed_forward_length": shape["hidden"],
            "attention.head_count": shape["heads"],
            "attention.head_count_kv": shape["key_value_heads"],
            "attention.key_length": HEAD,
            "attention.value_length": HEAD,
            "rope.dimension_count": HEAD,
        }
        for key, value in sizes.items():
            self.number(key, value)
        self.writer.add_float32(f"{self.architecture}.attention.layer_norm_rms_epsilon", EPSILON)
        self.writer.add_float32(f"{self.architecture}.rope.freq_base", ROPE_BASE)

    def tensor(self, name, weight, exact=False):
        """weight: a parameter or an array, [rows, columns] as torch has it. exact: F32 even for a matrix."""
        array = weight.detach().numpy() if torch.is_tensor(weight) else numpy.asarray(weight)
        narrow = self.kind == "f16" and array.ndim > 1 and not exact
        self.writer.add_tensor(name, numpy.ascontiguousarray(array.astype(numpy.float16 if narrow else numpy.float32)))

    def projections(self, prefix, attention):
        self.tensor(f"{prefix}.attn_q.weight", attention.query.weight)
        self.tensor(f"{prefix}.attn_k.weight", attention.key.weight)
        self.tensor(f"{prefix}.attn_v.weight", attention.value.weight)
        self.tensor(f"{prefix}.attn_output.weight", attention.output.weight)

    def attention(self, prefix, attention):
        self.projections(prefix, attention)
        self.tensor(f"{prefix}.attn_q_norm.weight", attention.query_norm.weight)
        self.tensor(f"{prefix}.attn_k_norm.weight", attention.key_norm.weight)

    def feed_forward(self, prefix, feed_forward):
        gate, up = feed_forward.gate_up.weight.chunk(2, 0)
        self.tensor(f"{prefix}.ffn_gate.weight", gate)
        self.tensor(f"{prefix}.ffn_up.weight", up)
        self.tensor(f"{prefix}.ffn_down.weight", feed_forward.down.weight)

    def block(self, prefix, block, feed_forward_norm="ffn_norm"):
        self.tensor(f"{prefix}.attn_norm.weight", block.attention_norm.weight)
        self.attention(prefix, block.attention)
        self.tensor(f"{prefix}.{feed_forward_norm}.weight", block.feed_forward_norm.weight)
        self.feed_forward(prefix, block.feed_forward)

    def close(self):
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()


def write_small(path, model, tokenizer, kind="f16"):
    file = GgufFile(path, "qwen3", "Paceline laboratory small", tokenizer, kind)
    file.shape(model.shape, model.shape["layers"])
    file.tensor("token_embd.weight", model.embedding.weight)
    file.tensor("output_norm.weight", model.norm.weight)
    for i, block in enumerate(model.blocks):
        file.block(f"blk.{i}", block)
    file.close()


RECURRENT_STATE = 32  # width of the neutral recurrent layer
QWEN35_NORM = "post_attention_norm"
# IMROPE turns sector i by position k only if i % 3 == k and i < 3 * section[k]. Sections that leave a
# sector out leave it unturned, so the three are as equal as 32 sectors allow, and cover all of them.
ROPE_SECTIONS = (11, 11, 10, 0)


def write_target(path, target, mtp, tokenizer, kind="f16"):
    """The target, and its MTP block as the last block of the same file (mtp may be None)."""
    shape = target.shape
    blocks = shape["layers"] + (mtp is not None)
    file = GgufFile(path, "qwen35", "Paceline laboratory target", tokenizer, kind)
    file.shape(shape, blocks)
    file.numbers("rope.dimension_sections", ROPE_SECTIONS, signed=True)
    file.numbers("attention.recurrent_layers", [1] + [0] * (blocks - 1))
    for key, value in (
        ("conv_kernel", 4),
        ("inner_size", RECURRENT_STATE),
        ("state_size", RECURRENT_STATE),
        ("time_step_rank", 1),
        ("group_count", 1),
    ):
        file.number(f"ssm.{key}", value)
    file.tensor("token_embd.weight", target.embedding.weight)
    file.tensor("output_norm.weight", target.norm.weight)
    file.tensor("output.weight", target.head.weight)
    neutral_recurrent_block(file, "blk.0", target.blocks[0], shape["width"])
    for i, block in enumerate(target.blocks[1:], start=1):
        file.block(f"blk.{i}", block, QWEN35_NORM)
    if mtp is not None:
        file.number("nextn_predict_layers", 1)
        prefix = f"blk.{shape['layers']}"
        file.block(prefix, mtp.block, QWEN35_NORM)
        file.tensor(f"{prefix}.nextn.eh_proj.weight", mtp.join.weight)
        file.tensor(f"{prefix}.nextn.enorm.weight", mtp.embedding_norm.weight)
        file.tensor(f"{prefix}.nextn.hnorm.weight", mtp.hidden_norm.weight)
        file.tensor(f"{prefix}.nextn.shared_head_norm.weight", mtp.norm.weight)
    file.close()


def neutral_recurrent_block(file, prefix, block, width):
    """A recurrent layer of random weights whose output projection is zero: the block is its feed-forward part."""
    random = numpy.random.default_rng(1)

    def weights(*shape):
        return random.standard_normal(shape, numpy.float32) * 0.02

    file.tensor(f"{prefix}.attn_norm.weight", numpy.ones(width))
    file.tensor(f"{prefix}.attn_qkv.weight", weights(3 * RECURRENT_STATE, width))
    file.tensor(f"{prefix}.attn_gate.weight", weights(RECURRENT_STATE, width))
    file.tensor(f"{prefix}.ssm_conv1d.weight", weights(3 * RECURRENT_STATE, 4), exact=True)
    file.tensor(f"{prefix}.ssm_dt.bias", numpy.zeros(1))
    file.tensor(f"{prefix}.ssm_a", -numpy.ones(1))
    file.tensor(f"{prefix}.ssm_beta.weight", weights(1, width))
    file.tensor(f"{prefix}.ssm_alpha.weight", weights(1, width))
    file.tensor(f"{prefix}.ssm_norm.weight", numpy.ones(RECURRENT_STATE))
    file.tensor(f"{prefix}.ssm_out.weight", numpy.zeros((width, RECURRENT_STATE)))
    file.tensor(f"{prefix}.{QWEN35_NORM}.weight", block.feed_forward_norm.weight)
    file.feed_forward(prefix, block.feed_forward)
