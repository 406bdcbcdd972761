"""Table II: error rates of all algorithms on all datasets.

Every algorithm learns on one half of each dataset, 30 times; 5-NN under the learned metric is tested on the
other half. Marks say whether MLOML-r is significantly better or worse (paired t-test over the 30 splits).

    mloml reproduce table2
    mloml reproduce table2 protocol=clean datasets='[iris,wine]' algorithms='[moml,mloml_r]'
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("table2")
