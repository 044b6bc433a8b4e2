#include "store/compression.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <memory>

namespace paceline::store {

namespace {

constexpr int level = 3;

tl::unexpected<util::Error> damaged(const std::string& why) {
  return util::fail(util::ErrorKind::usage,
                    fmt::format("a record of the store is damaged: {}", why));
}

}  // namespace

util::Result<std::string> compress(std::string_view line) {
  if (line.size() > longest_line)
    return util::fail(util::ErrorKind::internal,
                      fmt::format("a record of {} bytes is too long for the store", line.size()));
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(line.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), line.data(), line.size());
  if (ZSTD_isError(size) != 0)
    return util::fail(util::ErrorKind::internal,
                      fmt::format("zstd cannot compress a record: {}", ZSTD_getErrorName(size)));
  frame.resize(size);
  return frame;
}

// Piece by piece: the size that a frame claims may be any.
util::Result<std::string> decompress(std::string_view frame, std::size_t longest) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  std::string line;
  std::string piece(std::size_t{128} << 10, '\0');
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  std::size_t left = 1;
  while (left != 0) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    const std::size_t before = in.pos;
    left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0) return damaged(ZSTD_getErrorName(left));
    line.append(piece.data(), out.pos);
    if (line.size() > longest) return damaged(fmt::format("it has more than {} bytes", longest));
    if (left != 0 && in.pos == before && out.pos == 0) return damaged("it ends early");
  }
  if (in.pos != in.size) return damaged("something follows it");
  return line;
}

}  // namespace paceline::store
