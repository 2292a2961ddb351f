"""Texts of messages whose words are as unevenly distributed as those of a language, so that searches are realistic."""

import collections
import itertools
import json
import lzma
import pathlib
import random
import re

VOCABULARY = 20_000
# The frequency of a word is its rank to this power (Zipf's law).
EXPONENT = -1.0
# How many different texts there are. Longer histories repeat them.
POOL = 50_000
# The number of words of a text is distributed log-normally: half of the texts have at most seven.
LENGTH_MEAN, LENGTH_DEVIATION, LONGEST = 1.95, 0.7, 60
# As in a natural language, words begin with some letters much more often than with others.
ONSETS = {
    "t": 16, "s": 13, "w": 8, "h": 8, "m": 7, "b": 7, "c": 7, "p": 7, "f": 6, "d": 6, "l": 5, "r": 5, "n": 4, "g": 3, "k": 2,
    "v": 2, "st": 2, "pr": 2, "ch": 2, "sh": 2, "j": 1, "z": 1}
VOWELS = "aeiouaeioae"
CODAS = ["", "", "", "n", "r", "s", "t", "l", "nd", "ck", "ng"]
# The ranks from which words have two and three syllables.
LONGER_RANKS = (100, 3_000)


def vocabulary(source):
    """Different words, the most frequent first."""
    onsets, weights = list(ONSETS), list(ONSETS.values())
    words = {}
    while len(words) < VOCABULARY:
        syllables = 1 + sum(len(words) >= rank for rank in LONGER_RANKS)
        words["".join(
            source.choices(onsets, weights)[0] + source.choice(VOWELS) + source.choice(CODAS) for _ in range(syllables))] = None
    return list(words)


class Texts:
    """`words` has the words of the texts, the most frequent first."""

    def __init__(self, texts, words):
        self.texts, self.words = texts, words
        # As JSON, because the same texts are sent many times.
        self.encoded = [json.dumps(text) for text in texts]
        first_letters = collections.Counter(word[0] for word in words)
        self.letters = [letter for letter, _ in first_letters.most_common()]

    @classmethod
    def generated(cls, seed=1):
        """The same texts for the same seed."""
        source = random.Random(seed)
        words = vocabulary(source)
        weights = list(itertools.accumulate(rank ** EXPONENT for rank in range(1, VOCABULARY + 1)))
        lengths = [
            min(LONGEST, max(1, round(source.lognormvariate(LENGTH_MEAN, LENGTH_DEVIATION)))) for _ in range(POOL)]
        return cls([" ".join(source.choices(words, cum_weights=weights, k=length)) for length in lengths], words)

    @classmethod
    def of(cls, history):
        """Those of a chat history in the format of `hansard import`."""
        texts = [line["text"] for line in lines(history) if line.get("text")]
        counts = collections.Counter(word for text in texts for word in re.findall(r"[a-z]{2,}", text.lower()))
        return cls(texts[:POOL], [word for word, _ in counts.most_common(VOCABULARY)])

    def frequent(self, source):
        """One of the hundred most frequent words: a search that finds very much."""
        return source.choice(self.words[:100])

    def any(self, source):
        """A word of any frequency, each order of magnitude as often as the others."""
        return self.words[min(len(self.words) - 1, int(10 ** source.uniform(0, 4)) - 1)]

    def prefix(self, source):
        """One letter with which many words begin, as a prefix search."""
        return source.choice(self.letters[:8]) + "*"


def lines(history):
    """The lines of a history, which may be compressed with xz."""
    path = pathlib.Path(history)
    with lzma.open(path, "rt") if path.suffix == ".xz" else open(path) as file:
        for line in file:
            yield json.loads(line)
