"""Writes the corpus of input files. The same seed gives the same values.

generate.py FOLDER [--seed N] [--only TEXT]
"""

import argparse

import arrow_cases
import csv_cases
import parquet_cases
from case import Corpus


def generate(folder, seed=1, wanted=None):
    corpus = Corpus(folder, seed, wanted)
    for family in (csv_cases, parquet_cases, arrow_cases):
        family.add_all(corpus)
    return corpus


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    corpus = generate(arguments.folder, arguments.seed, lambda name: arguments.only in name)
    for name, error in corpus.failed:
        print(f"not written: {name}: {error}")
    print(f"{len(corpus.names)} files, {len(corpus.failed)} that a writer refused")


if __name__ == "__main__":
    main()
