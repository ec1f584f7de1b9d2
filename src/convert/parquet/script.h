// Python script of ParquetProcess: prints "ok" at the start and after "close", or one error line.
#pragma once

namespace profshim::convert_detail {

inline constexpr const char* kColumnsScript = R"python(
import locale, os, sys
locale.setlocale(locale.LC_ALL, "C")
sys.path[:] = [folder for folder in sys.path if folder]
answers = sys.stdout
def answer(text):
    print(" ".join(text.split()), file=answers, flush=True)
try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    answer(f"{sys.executable} has no pyarrow ({error}): run {sys.executable} -m pip install pyarrow")
    sys.exit()
answer("ok")
asked = sys.stdin.buffer
TYPES = {"int32": pa.int32(), "int64": pa.int64(), "dictionary": pa.dictionary(pa.int32(), pa.string()),
         "text": pa.string()}
def buffer():
    return pa.py_buffer(asked.read(int(asked.readline())))
def column(kind, rows):
    if asked.readline() == b"null\n":
        return pa.nulls(rows, TYPES[kind])
    valid, values = buffer(), buffer()
    if kind == "text":
        return pa.Array.from_buffers(pa.string(), rows, [valid, values, buffer()])
    if kind == "dictionary":
        offsets, text = buffer(), buffer()
        words = pa.Array.from_buffers(pa.string(), offsets.size // 4 - 1, [None, offsets, text])
        indices = pa.Array.from_buffers(pa.int32(), rows, [valid, values])
        return pa.DictionaryArray.from_arrays(indices, words)
    return pa.Array.from_buffers(TYPES[kind], rows, [valid, values])
try:
    columns = [line.split("=") for line in asked.readline().decode().split()]
    schema = pa.schema([(name, TYPES[kind]) for name, kind in columns])
    writer = None
    while line := asked.readline().decode().rstrip("\n"):
        what, _, argument = line.partition(" ")
        if what == "open":
            writer = pq.ParquetWriter(os.fsdecode(bytes.fromhex(argument)), schema, compression="zstd",
                                      use_dictionary=[name for name, kind in columns if kind in ("dictionary", "int32")])
        elif what == "rows":
            rows = int(argument)
            batch = pa.RecordBatch.from_arrays([column(kind, rows) for _, kind in columns], schema=schema)
            writer.write_batch(batch, row_group_size=rows)
        else:
            writer.close()
            answer("ok")
except OSError as error:
    answer("cannot be written: " + (os.strerror(error.errno) if error.errno else str(error)))
except BaseException as error:
    answer(f"{type(error).__name__}: {error}")
)python";

}  // namespace profshim::convert_detail
