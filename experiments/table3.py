"""Table III: backward (BP), forward-backward (FBP) and forward propagation (FP) of MLOML-r, -s and -t.

Beside the table: how much of FP's lead over BP is BP's learning rate, whether FP speeds up BP's convergence,
and what a triplet costs under each strategy.

    mloml reproduce table3
    mloml reproduce table3 datasets='[iris,balance]' protocol.splits=10
"""

from mloml.report.reproduce import main

if __name__ == "__main__":
    main("table3")
