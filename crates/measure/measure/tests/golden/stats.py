"""Prints the golden values of the statistics tests in tests/it; needs scipy and numpy."""
import itertools
import warnings

import numpy as np
import scipy
from scipy import optimize, special, stats

warnings.filterwarnings("ignore")
print("scipy", scipy.__version__, "numpy", np.__version__)

A = [10.1, 10.4, 9.8, 10.9, 10.0, 10.6]
B = [10.7, 11.2, 10.5, 11.0, 10.3, 11.6, 10.8]
TIED_A = [1, 2, 2, 3, 4]
TIED_B = [2, 3, 3, 5, 6, 6]
LONG_A = [(i * 37) % 101 for i in range(25)]
LONG_B = [(i * 53) % 97 + 20 for i in range(30)]
D = [0.3, -0.1, 0.8, 0.5, -0.2, 1.1, 0.7, 0.4]
LONG_D = [((i * 29) % 83) - 30 for i in range(40)]
SERIES = [5.1, 4.9, 5.6, 5.3, 6.0, 5.8, 5.7, 6.4, 6.1, 6.9]
TIED_SERIES = [1, 3, 2, 2, 4, 4, 5, 3, 5, 6, 6, 4]
XY = [(1, 2.1), (2, 3.9), (3, 6.2), (4, 7.7), (5, 10.4), (7, 13.6), (9, 25.0)]


def show(name, *values):
    print(name, *(repr(float(v)) for v in values))


for x in (-37.0, -8.0, -3.5, -1.0, 0.25, 2.9, 6.0):
    show(f"norm.cdf({x})", stats.norm.cdf(x))
for p in (1e-300, 1e-12, 0.001, 0.025, 0.4, 0.975, 0.999999):
    show(f"norm.ppf({p})", stats.norm.ppf(p))
for p, df in ((0.975, 1), (0.975, 4), (0.9, 2.5), (0.9999, 1), (0.995, 9), (0.01, 3.7), (0.975, 1e6), (0.5001, 30)):
    show(f"t.ppf({p}, {df})", stats.t.ppf(p, df))
for t, df in ((2.0, 1), (-1.3, 4.4), (12.0, 6), (0.001, 80), (40.0, 2.2)):
    show(f"t.cdf({t}, {df})", stats.t.cdf(t, df))
for a, b, x in ((0.5, 2, 0.1), (5, 3, 0.7), (80, 90, 0.45), (0.2, 0.3, 0.999)):
    show(f"betainc({a}, {b}, {x})", special.betainc(a, b, x))
for x in (0.1, 0.5, 3.3, 171.5, 1e5):
    show(f"gammaln({x})", special.gammaln(x))

r = stats.mannwhitneyu(A, B, method="exact")
show("mannwhitneyu(A, B, exact)", r.statistic, r.pvalue)
r = stats.mannwhitneyu(TIED_A, TIED_B, method=stats.PermutationMethod(n_resamples=np.inf))
show("mannwhitneyu(TIED_A, TIED_B, PermutationMethod(inf))", r.statistic, r.pvalue)
r = stats.mannwhitneyu(LONG_A, LONG_B, method="asymptotic")
show("mannwhitneyu(LONG_A, LONG_B, asymptotic)", r.statistic, r.pvalue)
r = stats.wilcoxon(D, method="exact")
show("wilcoxon(D, exact)", sum(stats.rankdata(np.abs(D))[np.array(D) > 0]), r.pvalue)
r = stats.wilcoxon(LONG_D, correction=True, method="asymptotic")
nz = np.array([d for d in LONG_D if d != 0])
show("wilcoxon(LONG_D, correction, asymptotic)", sum(stats.rankdata(np.abs(nz))[nz > 0]), r.pvalue)
r = stats.permutation_test((D,), np.mean, permutation_type="samples", n_resamples=np.inf)
show("permutation_test((D,), mean, samples, inf)", r.statistic, r.pvalue)
r = stats.brunnermunzel(LONG_A, LONG_B, distribution="t")
show("brunnermunzel(LONG_A, LONG_B, t)", r.statistic, r.pvalue)
for x, y, name in ((A, B, "A, B"), (TIED_A, TIED_B, "TIED_A, TIED_B")):
    r = stats.permutation_test(
        (x, y), lambda x, y: stats.brunnermunzel(x, y).statistic, n_resamples=np.inf, vectorized=False)
    show(f"permutation_test(({name}), brunnermunzel, inf)", r.statistic, r.pvalue)

walsh = sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(D, 2))
show("median of Walsh averages of D, 4th, 33rd", np.median(walsh), walsh[3], walsh[-4])
diff = sorted(b - a for a in A for b in B)
# Largest k with P(U < k) <= 0.025, found from the exact distribution.
us = [sum(c) - 21 for c in itertools.combinations(range(1, 14), 6)]
k = max(k for k in range(43) if np.mean(np.array(us) < k) <= 0.025)
show("shift of A, B: k, level", k, 1 - 2 * np.mean(np.array(us) < k))
show("median of differences, ends", np.median(diff), diff[k - 1], diff[-k])

r = stats.kendalltau(range(10), SERIES, method="exact")
show("kendalltau(SERIES, exact)", r.statistic, r.pvalue)
r = stats.kendalltau(range(12), TIED_SERIES)
s = sum(np.sign(TIED_SERIES[j] - TIED_SERIES[i]) for i in range(12) for j in range(i + 1, 12))
_, t = np.unique(TIED_SERIES, return_counts=True)
var = (12 * 11 * 29 - sum(t * (t - 1) * (2 * t + 5))) / 18
show("Mann-Kendall(TIED_SERIES) S, tau-b, p", s, r.statistic, 2 * stats.norm.sf((abs(s) - 1) / var**0.5))
x, y = zip(*XY)
r = stats.theilslopes(y, x)
show("theilslopes(XY)", r.slope, r.intercept)
r = stats.linregress(x, y, alternative="greater")
show("linregress(XY, greater)", r.slope, r.intercept, r.slope / r.stderr, r.pvalue)

r = stats.ttest_1samp(np.log(A), 0).confidence_interval(0.95)
show("exp ttest_1samp(log A)", stats.gmean(A), np.exp(r.low), np.exp(r.high))
r = stats.ttest_ind(np.log(B), np.log(A), equal_var=False).confidence_interval(0.95)
show("exp ttest_ind(log B, log A, Welch)", stats.gmean(B) / stats.gmean(A), np.exp(r.low), np.exp(r.high))

N = np.arange(1, 7)
X = np.array([760, 1080, 1453, 1543, 1282, 1484.0])
usl = lambda p: p[0] * N / (1 + p[1] * (N - 1) + p[2] * N * (N - 1)) - X / 1000
r = optimize.least_squares(usl, [0.7, 0.1, 0.01], bounds=([0, 0, 0], np.inf), xtol=1e-15, ftol=1e-15, gtol=1e-15)
show("least_squares(USL)", r.x[0] * 1000, r.x[1], r.x[2], np.sum(r.fun**2) * 1e6)
show("median_abs_deviation(A), A's median", stats.median_abs_deviation(A), np.median(A))
show("quantile(A, 0.3)", np.quantile(A, 0.3))
