#include "worker/llama/devices.hpp"

#include "ggml-backend.h"
#include "worker/llama/runtime.hpp"

namespace paceline::worker {

namespace {

const char* type_name(enum ggml_backend_dev_type type) {
  switch (type) {
    case GGML_BACKEND_DEVICE_TYPE_CPU:
      return "CPU";
    case GGML_BACKEND_DEVICE_TYPE_GPU:
      return "GPU";
    case GGML_BACKEND_DEVICE_TYPE_IGPU:
      return "integrated GPU";
    case GGML_BACKEND_DEVICE_TYPE_ACCEL:
      return "accelerator";
    default:
      return "other";
  }
}

}  // namespace

util::Result<trace::Devices> list_devices() {
  PACELINE_TRY(start_runtime());
  trace::Devices devices;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t from = ggml_backend_dev_get(i);
    std::size_t free = 0;
    std::size_t total = 0;
    ggml_backend_dev_memory(from, &free, &total);
    devices.list.push_back({.name = ggml_backend_dev_name(from),
                            .type = type_name(ggml_backend_dev_type(from)),
                            .description = ggml_backend_dev_description(from),
                            .memory_free_bytes = free,
                            .memory_total_bytes = total});
  }
  return devices;
}

}  // namespace paceline::worker
