// The index of hyparquet-compressors loads WebAssembly for Snappy, which the policy of pages refuses; hyparquet has its own.
export { decompress as decompressZstd } from "fzstd";
export {
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  snappyUncompress,
} from "hyparquet";
export { decompressBrotli } from "hyparquet-compressors/src/brotli.js";
export { gunzip } from "hyparquet-compressors/src/gzip.js";
export { decompressLz4, decompressLz4Raw } from "hyparquet-compressors/src/lz4.js";
