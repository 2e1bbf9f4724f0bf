"""
Fusion of classifiers
=====================

Several classifiers look at the same digits. Which answer should we believe? Each class of each classifier is a
candidate group of images, and the groups that the classifiers agree on are the fused classes. Names of classes are not
needed for that, so classifiers that use other names, or know only some of the classes, can take part.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import biconsensus as bc

# %%
# We train nine weak classifiers on 150 labelled images. Each classifier sees a random half of the pixels.

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=150, stratify=y, random_state=0)
rng = np.random.default_rng(0)
classifiers = [
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(random_state=1),
    DecisionTreeClassifier(random_state=2),
    GaussianNB(var_smoothing=0.01),
    KNeighborsClassifier(1),
    KNeighborsClassifier(5),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5),
    RandomForestClassifier(20, random_state=0),
    SVC(gamma="scale"),
]
answers = []
for classifier in classifiers:
    pixels = rng.random(X.shape[1]) < 0.5
    answers.append(classifier.fit(X_train[:, pixels], y_train).predict(X_test[:, pixels]))
answers = np.column_stack(answers)
accuracy = (answers == y_test[:, None]).mean(axis=0)
print("one by one:", accuracy.round(3))

# %%
# The rival is the majority vote over the names of the classes.


def majority(answers, n_classes=10):
    """Most frequent answer for each image, and its share of the votes; -1 is no vote."""
    votes = np.stack([(answers == k).sum(axis=1) for k in range(n_classes)], axis=1)
    return votes.argmax(axis=1), votes.max(axis=1) / np.maximum(votes.sum(axis=1), 1)


# %%
# The consensus finds the groups, without names. To name a group, we ask the classifiers whose names can be trusted, and
# take their most frequent answer inside the group.


def fuse(table, named):
    """Consensus of the answers, and the class of each group by the columns whose names are meant as such."""
    consensus = bc.find_consensus(table, unassigned="nearest")
    names = np.array([np.bincount(named[consensus.labels == t].ravel()).argmax() for t in range(len(consensus))])
    return consensus, np.where(consensus.labels >= 0, names[consensus.labels], -1)


consensus, fused = fuse(answers, answers)
voted, share = majority(answers)
print(
    f"majority vote {np.mean(voted == y_test):.3f}, consensus {np.mean(fused == y_test):.3f}, {len(consensus)} groups"
)

# %%
# So far, the two are alike. Now six of the nine classifiers use names of their own, as annotators with another code
# book do. The vote mixes up the names. The consensus does not look at them.

coded = answers.copy()
for j in (0, 1, 2, 4, 5, 7):
    coded[:, j] = rng.permutation(10)[answers[:, j]]
trusted = coded[:, [3, 6, 8]]
voted_coded, _ = majority(coded)
few, _ = majority(trusted)
_, fused_coded = fuse(coded, trusted)
print(
    f"vote over all nine {np.mean(voted_coded == y_test):.3f}, vote of the three with known names "
    f"{np.mean(few == y_test):.3f}, consensus of all nine {np.mean(fused_coded == y_test):.3f}"
)

# %%
# How sure is the answer? The backing of an image is the share of the candidates behind its group that hold it. If we
# leave out the images with the least backing, we leave out most errors.

order = np.argsort(-consensus.backing, kind="stable")
correct = np.cumsum(fused[order] == y_test[order]) / np.arange(1, y_test.size + 1)
by_share = np.argsort(-share, kind="stable")
correct_vote = np.cumsum(voted[by_share] == y_test[by_share]) / np.arange(1, y_test.size + 1)
kept = np.arange(1, y_test.size + 1) / y_test.size

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
axes[0].plot(kept[100:], correct[100:], label="consensus, by backing")
axes[0].plot(kept[100:], correct_vote[100:], "--", label="majority, by share of votes")
axes[0].set(xlabel="share of images answered", ylabel="accuracy among them")
axes[0].legend()
names = ["majority vote", "vote,\nknown names only", "consensus"]
clean = [np.mean(voted == y_test), np.mean(few == y_test), np.mean(fused == y_test)]
mixed = [np.mean(voted_coded == y_test), np.mean(few == y_test), np.mean(fused_coded == y_test)]
place = np.arange(3)
axes[1].bar(place - 0.2, clean, 0.4, label="all use the same names")
axes[1].bar(place + 0.2, mixed, 0.4, label="six of nine use their own")
axes[1].axhline(accuracy.max(), color="0.4", ls=":", lw=1)
axes[1].text(1, accuracy.max() + 0.01, "best single classifier", ha="center", fontsize=8)
axes[1].set_xticks(place, names)
axes[1].set(ylabel="accuracy", ylim=(0, 1.25))
axes[1].legend(loc="upper center", ncols=2, fontsize=8)

# %%
# People would hesitate on the images with the least backing, too.

doubtful = order[::-1][:10]
figure, axes = plt.subplots(1, 10, figsize=(10, 1.8), layout="constrained")
for ax, i in zip(axes, doubtful, strict=True):
    ax.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{fused[i]} ({y_test[i]})", fontsize=9)
    ax.axis("off")
figure.suptitle("least backed: fused class (true class)", fontsize=10)
