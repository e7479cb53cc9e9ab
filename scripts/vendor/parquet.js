// Snappy is the one in hyparquet: hysnappy needs WebAssembly, which the policy of pages refuses.
export { parquetMetadataAsync, parquetReadObjects, parquetSchema, parquetRead } from "hyparquet";
export {
  decompressBrotli,
  decompressGzip,
  decompressLz4,
  decompressLz4Raw,
  decompressZstd,
} from "hyparquet-compressors";
