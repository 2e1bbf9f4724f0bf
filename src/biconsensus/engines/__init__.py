"""Where the heavy passes run: on this machine, chunk by chunk, or on a Dask cluster.

`rows` numbers distinct rows, `cells` turns chunks of labels into rows, `compressed` holds distinct rows with their
numbers of elements and adds them up, `chunks` reads what is larger than memory, `local` and `dask` put it together.
"""
