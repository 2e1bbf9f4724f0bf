"""
A table that does not fit into memory
=====================================

Many clusterings of many elements lie in a folder of Parquet files, with one row for each element and your
identifier in the first column. The table is read chunk by chunk. Only its distinct rows and one small number for each
element are kept in memory. The groups are written in the same way and in the same order, with the identifiers.
"""

# %%
# We make a folder: eight files of 25,000 elements with ten clusterings each. Every twentieth label is wrong, and one
# clustering has not seen the last file at all.

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from matplotlib import pyplot as plt
from pyarrow import parquet

import biconsensus as bc
from biconsensus.engines import pool_from_stream, write_labels

folder = Path(tempfile.mkdtemp())
(folder / "labels").mkdir()
rng = np.random.default_rng(0)
truth = rng.integers(0, 6, 200_000)
for k, part in enumerate(np.split(np.arange(200_000), 8)):
    columns = {"key": [f"element-{i}" for i in part]}
    for c in range(10):
        wrong = rng.random(part.size) < 0.05
        labels = np.where(wrong, rng.integers(0, 6, part.size), truth[part]).astype(np.int8)
        columns[f"clustering {c}"] = pa.array(labels, mask=np.full(part.size, k == 7 and c == 0))
    parquet.write_table(pa.table(columns), folder / "labels" / f"part-{k}.parquet")

# %%
# We read it chunk by chunk. The pool knows its elements only by the distinct row that each of them has.

pool = pool_from_stream(folder / "labels", id_column="key")
print(f"{pool.shape[0]:,} elements, {pool.rows.shape[0]:,} distinct rows, {pool.shape[1]} candidate groups")

# %%
# The consensus is found on the distinct rows. Cells that were not seen do not vote.

consensus = bc.find_consensus(pool)
print(consensus)
print(f"agreement with the truth: ARI {bc.metrics.ari(truth, consensus.labels):.4f}")

# %%
# We write the groups beside the identifiers, again in chunks. The file appears when it is complete, or not at all.

write_labels(consensus, folder / "groups.parquet", folder / "labels", id_column="key", name="group")
print(parquet.read_table(folder / "groups.parquet").slice(0, 3).to_pydict())

# %%
# Few distinct rows stand for most of the elements. That is why large tables take so little time.

counts = np.sort(pool.counts)[::-1]
figure, axis = plt.subplots(figsize=(6, 3.5), constrained_layout=True)
axis.semilogx(np.arange(1, counts.size + 1), 100 * np.cumsum(counts) / counts.sum())
axis.set(xlabel="distinct rows, the most frequent first", ylabel="share of the elements (%)", ylim=(0, 101))
axis.grid(alpha=0.3)
