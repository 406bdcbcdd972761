"""The paper's three claims, put to the test: positive definiteness, regret, and layers that only improve."""
