"""How a learner is judged: splits, selection of hyper-parameters, 5-NN, and the cell that ties them."""
