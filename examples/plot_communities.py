"""
Communities that many runs agree on
===================================

If you run Louvain, Leiden or label propagation twice, you get two answers. Here several algorithms run many times on
one network. We see what the runs agree on, and how sure they are of each node.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import biconsensus as bc

# %%
# The network has six planted communities, and three nodes without a link.

network = nx.planted_partition_graph(6, 25, p_in=0.30, p_out=0.03, seed=4)
network.add_nodes_from(["stray", "another", "a third"])

# %%
# The default pool has runs of Louvain, Leiden, block models and label propagation, with several resolutions and seeds.
# The number of communities is not given.

model = bc.ConsensusCommunities(random_state=0).fit(network)
print(f"{len(model.communities_)} communities, modularity {model.modularity_:.3f}")
print("sizes:", sorted(len(community) for community in model.communities_))
print("in none:", [name for name, label in zip(model.graph_.names, model.labels_) if label < 0])

# %%
# We compare single runs, and the consensus, with the planted communities.

truth = np.repeat(np.arange(6), 25)
runs = [bc.metrics.ari(truth, result.labels[:150]) for result in model.results_]
print(f"single runs: mean {np.mean(runs):.3f}, best {max(runs):.3f}")
print(f"consensus:   {bc.metrics.ari(truth, model.labels_[:150]):.3f}")

# %%
# We draw the network without the three lone nodes, coloured by community. The size of a node is its backing: the share
# of the candidates behind its community that hold it.

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
# The answer can be written into the graph, so that any other tool can use it.

model.write_to(network)
print(network.nodes[0])

# %%
# One call takes several networks on the same nodes. Here they are five noisy copies, each with other nodes missing. A
# copy that lacks a node does not vote on it.

rng = np.random.default_rng(0)
copies = []
for seed in range(5):
    copy = nx.planted_partition_graph(6, 25, p_in=0.2, p_out=0.03, seed=seed)
    copy.remove_nodes_from(rng.choice(150, 15, replace=False).tolist())
    copies.append(copy)
many = bc.ConsensusCommunities("louvain", n_runs=2, random_state=0).fit_many(copies)
true = np.array([name // 25 for name in many.graph_.names])
print(f"five copies: ARI {bc.metrics.ari(true, many.labels_):.3f}")
