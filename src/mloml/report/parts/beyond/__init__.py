"""Parts of the page "Which learner when": the studies, what is said of them, tables and costs."""
