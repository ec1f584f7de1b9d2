"""Runs the documented queries on a folder of `profshim convert` and compares them with `profshim summary --json`.
usage: sums_with_duckdb.py FOLDER MPI.json KERNELS.json"""
import json
import sys

import duckdb

folder, mpi, kernels = sys.argv[1:]
duckdb.execute(f"create view events as select * from read_parquet('{folder}/*/*.parquet', hive_partitioning = true)")


def rows(path, view):
    with open(path) as file:
        return json.load(file)[view][view]


def check(query, wanted):
    found = {row[:2]: row[2:] for row in duckdb.sql(query).fetchall()}
    assert found and found.keys() == wanted.keys(), found.keys() ^ wanted.keys()
    for key, (count, total_us) in wanted.items():
        assert found[key][0] == count and abs(found[key][1] - total_us) < 0.001, (key, found[key], count, total_us)


check("""select rank, name, count(*), sum(dur_ns) / 1e3 from events
         where category in ('kernel', 'gpu_memcpy', 'gpu_memset') group by all""",
      {(row["rank"], row["name"]): (row["count"], row["total_us"]) for row in rows(kernels, "kernels")})
# An "MPI polling" event stands for several calls, counted in its arguments.
check("""select rank, name, count(*), sum(dur_ns) / 1e3 from events
         where phase = 'X' and name like 'MPI\\_%' escape '\\' and name not in ('MPI_Test', 'MPI_Iprobe') group by all""",
      {(row["rank"], row["function"]): (row["calls"], row["total_us"]) for row in rows(mpi, "mpi")
       if row["rank"] != "all" and row["function"] not in ("MPI polling", "MPI_Test", "MPI_Iprobe")})
print("the sums are those of summary")
