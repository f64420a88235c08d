"""Write weights of `bideuchre prepare` as the package's weights of a variant.

    python experiments/fitting/ship_prepared.py --games pepper_v0

reads `net-HASH.npz` and, with `--calls 1`, `expert-HASH.npz` in the cache folder
(`bideuchre prepare` lists it), by the rules of the variant. It writes `net-GAME.npz`, as float16,
and the call network into `call_network.npz`, both in `--out`. A package's variant cannot be
prepared: prepare its rules in a checkout without the variant. The command of that run is kept in
the metadata.
"""
