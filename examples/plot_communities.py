"""
Communities that many runs agree on
===================================

Louvain, Leiden, label propagation: run them twice and they give two answers. Here many runs of several algorithms on
one network, what they agree on, and how sure they are of each node.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import biconsensus as bc

# %%
# A network with six planted communities, and three nodes without a link.

network = nx.planted_partition_graph(6, 25, p_in=0.30, p_out=0.03, seed=4)
network.add_nodes_from(["stray", "another", "a third"])

# %%
# The default pool: Louvain, Leiden, block models and label propagation over several resolutions and seeds. Nothing says
# how many communities there are.

model = bc.ConsensusCommunities(random_state=0).fit(network)
print(f"{len(model.communities_)} communities, modularity {model.modularity_:.3f}")
print("sizes:", sorted(len(community) for community in model.communities_))
print("in none:", [name for name, label in zip(model.graph_.names, model.labels_) if label < 0])

# %%
# How far single runs are from the planted communities, and how far the consensus is.

truth = np.repeat(np.arange(6), 25)
runs = [bc.metrics.ari(truth, result.labels[:150]) for result in model.results_]
print(f"single runs: mean {np.mean(runs):.3f}, best {max(runs):.3f}")
print(f"consensus:   {bc.metrics.ari(truth, model.labels_[:150]):.3f}")

# %%
# The network without its strays, coloured by community; the size of a node is its backing, the share of the candidates
# behind its community that hold it.

linked = network.subgraph(range(150))
positions = nx.spring_layout(linked, seed=1, k=0.3)
fig, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
nx.draw_networkx_edges(linked, positions, ax=left, edge_color="#CCCCCC", width=0.5)
nx.draw_networkx_nodes(
    linked,
    positions,
    ax=left,
    nodelist=list(range(150)),
    node_color=[bc.plots.color_of(int(label)) for label in model.labels_[:150]],
    node_size=10 + 90 * model.backing_[:150] ** 2,
    edgecolors="black",
    linewidths=0.4,
)
left.set_axis_off()
left.set_title("communities, size by backing")
bc.plots.preference_matrix(model.consensus_, ax=right)
right.set_title("the pool, rows ordered by community")
plt.show()

# %%
# Back into the graph, so that any other tool can use it.

model.write_to(network)
print(network.nodes[0])

# %%
# Several networks on the same nodes are one call: here five noisy copies, each with other nodes missing. A node casts
# no vote in a copy that lacks it.

rng = np.random.default_rng(0)
copies = []
for seed in range(5):
    copy = nx.planted_partition_graph(6, 25, p_in=0.2, p_out=0.03, seed=seed)
    copy.remove_nodes_from(rng.choice(150, 15, replace=False).tolist())
    copies.append(copy)
many = bc.ConsensusCommunities("louvain", n_runs=2, random_state=0).fit_many(copies)
true = np.array([name // 25 for name in many.graph_.names])
print(f"five copies: ARI {bc.metrics.ari(true, many.labels_):.3f}")
