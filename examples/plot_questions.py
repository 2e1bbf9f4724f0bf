"""
The next question
=================

Where sources disagree, a person may know better. ``next_question`` finds the two elements about which an answer settles
most, and ``answer`` takes the answer. Here the true classes answer in place of a person. The points are made up: two
half-moons, which k-means cuts into pieces.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

import biconsensus as bc

X, truth = make_moons(400, noise=0.06, random_state=0)
runs = [KMeans(k, n_init=1, random_state=k).fit_predict(X) for k in range(6, 16)]
first = c = bc.find_consensus(runs)
print(c.next_question())

# %%
# We ask and answer twenty times. The labels obey every answer, and every answer also says something about similar
# elements.

scores = [bc.metrics.ari(truth, c.labels)]
for _ in range(20):
    question = c.next_question()
    if question is None:
        break
    i, j = question.elements
    c = c.answer(i, j, together=bool(truth[i] == truth[j]))
    scores.append(bc.metrics.ari(truth, c.labels))
print(c.summary)

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for ax, found, title in ((axes[0], first, "before"), (axes[1], c, f"after {len(c.answers)} answers")):
    ax.scatter(*X.T, c=[bc.plots.color_of(label) for label in found.labels], s=8)
    ax.set(title=title, xticks=[], yticks=[])
ax = axes[2]
ax.plot(range(len(scores)), scores, marker="o", color=bc.plots.color_of(0))
ax.set(xlabel="answers", ylabel="ARI with the classes", ylim=(0, 1))

# %%
# Answers that contradict each other are an error, which names the pairs.

d = first.answer(0, 1, together=True).answer(1, 2, together=True)
try:
    d.answer(0, 2, together=False)
except bc.errors.InputError as error:
    print(error)
