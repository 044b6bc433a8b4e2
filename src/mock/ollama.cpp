#include "mock/renderer.hpp"
namespace paceline::mock {
std::unique_ptr<Renderer> make_ik_llama() { return nullptr; }
std::unique_ptr<Renderer> make_vllm(SpecMetrics) { return nullptr; }
std::unique_ptr<Renderer> make_vllm_v0() { return nullptr; }
std::unique_ptr<Renderer> make_sglang(int) { return nullptr; }
std::unique_ptr<Renderer> make_tensorrt_llm() { return nullptr; }
std::unique_ptr<Renderer> make_ollama() { return nullptr; }
std::unique_ptr<Renderer> make_lm_studio() { return nullptr; }
std::unique_ptr<Renderer> make_mlx_vlm() { return nullptr; }
}  // namespace paceline::mock
