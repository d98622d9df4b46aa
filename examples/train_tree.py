#!/usr/bin/env python3
"""Train a decision tree on endgame positions: it predicts the winner from the features of dsq.

    dsq export --material LvE --format csv --with-features > LvE.csv
    python3 examples/train_tree.py LvE.csv

Needs pandas and scikit-learn, and pyarrow for .parquet files.
"""

import argparse

import pandas as pd
from sklearn.tree import DecisionTreeClassifier, export_text

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("file", help="the file that dsq export wrote, .csv or .parquet")
parser.add_argument("--leaves", type=int, help="the most leaves; unlimited if not given")
parser.add_argument("--squares", action="store_true", help="learn from the squares instead of the features")
arguments = parser.parse_args()

read = pd.read_parquet if arguments.file.endswith(".parquet") else pd.read_csv
data = read(arguments.file)
winner = data["class"]
# The columns of the published data set contain the squares of the pieces: white_piece0_file and so on.
squares = [name for name in data.columns if "_piece" in name]
features = [name for name in data.columns if name not in squares and name != "class"]
if arguments.squares or not features:
    features = squares

tree = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=arguments.leaves, random_state=1)
tree.fit(data[features], winner)
wrong = (tree.predict(data[features]) != winner).sum()

print(export_text(tree, feature_names=features, decimals=1))
print(f"{len(data)} positions, {tree.get_n_leaves()} leaves, depth {tree.get_depth()}, {wrong} misclassified")
