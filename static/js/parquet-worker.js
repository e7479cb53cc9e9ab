// Reads schema and first rows of a Parquet file by ranges, away from the page: a hostile file costs only this worker.
import {
  decompressBrotli,
  decompressLz4,
  decompressLz4Raw,
  decompressZstd,
  gunzip,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  snappyUncompress,
} from "../vendor/parquet.js";

const ROWS = 100;
const COLUMNS = 60;
const LONGEST = 500; // characters of a cell
const MIB = 1 << 20;
const MOST_READ = 64 * MIB; // bytes in all
const MOST_OF_COLUMN = 4 * MIB; // compressed bytes of one column
const MOST_OF_PAGE = 64 * MIB; // decompressed bytes
const MOST_OF_FOOTER = 32 * MIB;

// Return what hyparquet reads from: ranges of an address, up to MOST_READ bytes.
export function opened(url, size, get = fetch) {
  let read = 0;
  return {
    byteLength: size,
    get read() {
      return read;
    },
    async slice(start, end = size) {
      if (start < 0 || end > size || start > end) throw new Error("damaged");
      read += end - start;
      if (read > MOST_READ || end - start > MOST_OF_FOOTER) throw new Error("large");
      const answer = await get(url, { headers: { Range: `bytes=${start}-${end - 1}` } });
      if (answer.status !== 206) throw new Error(`status ${answer.status}`);
      return answer.arrayBuffer();
    },
  };
}

function bounded(decompress) {
  return (input, length) => {
    if (length > MOST_OF_PAGE) throw new Error("large");
    return decompress(input, length);
  };
}

const compressors = {
  SNAPPY: bounded((input, length) => {
    const output = new Uint8Array(length);
    snappyUncompress(input, output);
    return output;
  }),
  GZIP: bounded((input, length) => gunzip(input, new Uint8Array(length))),
  BROTLI: bounded(decompressBrotli),
  ZSTD: bounded((input) => decompressZstd(input)),
  LZ4: bounded(decompressLz4),
  LZ4_RAW: bounded(decompressLz4Raw),
};

// Return the type of a column as people write it, such as "list<int64>".
export function typeOf({ element, children }) {
  const kind = element.logical_type?.type ?? element.converted_type;
  if (!children.length) {
    if (kind === "DECIMAL") return `decimal(${element.precision}, ${element.scale ?? 0})`;
    return (kind === "UTF8" ? "string" : (kind ?? element.type ?? "")).toLowerCase();
  }
  if (kind === "LIST") {
    let inner = children[0];
    if (inner.children.length === 1) inner = inner.children[0];
    return `list<${typeOf(inner)}>`;
  }
  if (kind === "MAP") return `map<${children[0]?.children.map(typeOf).join(", ")}>`;
  const fields = children.slice(0, 8).map((one) => `${one.element.name}: ${typeOf(one)}`);
  return `struct<${fields.join(", ")}${children.length > 8 ? ", …" : ""}>`;
}

export function cell(value) {
  if (value === null || value === undefined) return "";
  if (value instanceof Uint8Array) {
    const start = [...value.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, "0"));
    return `${start.join(" ")}${value.length > 16 ? ` … (${value.length} B)` : ""}`;
  }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
  if (typeof value !== "object") return String(value).slice(0, LONGEST);
  const text = JSON.stringify(value, (_key, inner) => {
    if (typeof inner === "bigint")
      return Number.isSafeInteger(Number(inner)) ? Number(inner) : String(inner);
    return inner instanceof Uint8Array || ArrayBuffer.isView(inner) ? cell(inner) : inner;
  });
  return text.slice(0, LONGEST);
}

// Only the first pages are read: a flat column ends once it has enough rows.
function shortened(metadata, name) {
  const groups = [];
  let rows = 0;
  for (const group of metadata.row_groups) {
    if (rows >= ROWS) break;
    rows += Number(group.num_rows);
    const columns = group.columns.map((column) => {
      const about = column.meta_data;
      if (about?.path_in_schema[0] !== name || about.total_compressed_size <= MOST_OF_COLUMN)
        return column;
      return { ...column, meta_data: { ...about, total_compressed_size: BigInt(MOST_OF_COLUMN) } };
    });
    groups.push({ ...group, columns });
  }
  return { ...metadata, row_groups: groups };
}

export async function preview(url, size, get = fetch) {
  const file = opened(url, size, get);
  const metadata = await parquetMetadataAsync(file, { initialFetchSize: Math.min(64 << 10, size) });
  const schema = parquetSchema(metadata).children;
  const columns = schema.slice(0, COLUMNS).map((one) => ({
    name: one.element.name,
    type: typeOf(one),
    cells: [],
    error: "",
  }));
  const count = Math.min(Number(metadata.num_rows), ROWS);
  for (const column of columns) {
    try {
      const rows = await parquetReadObjects({
        file,
        metadata: shortened(metadata, column.name),
        columns: [column.name],
        rowStart: 0,
        rowEnd: count,
        compressors,
        geoparquet: false,
        utf8: false, // bytes without a text type are shown as such
      });
      column.cells = rows.slice(0, count).map((row) => cell(row[column.name]));
    } catch (error) {
      column.error = error.message === "large" ? "large" : "damaged";
    }
  }
  return {
    columns,
    rows: count,
    numberOfRows: Number(metadata.num_rows),
    numberOfColumns: schema.length,
    groups: metadata.row_groups.length,
    codec: metadata.row_groups[0]?.columns[0]?.meta_data?.codec ?? "",
    by: String(metadata.created_by ?? "").slice(0, 100),
    read: file.read,
  };
}

globalThis.addEventListener?.("message", async ({ data }) => {
  try {
    postMessage({ done: await preview(data.url, data.size) });
  } catch (error) {
    postMessage({ error: error.message });
  }
});
