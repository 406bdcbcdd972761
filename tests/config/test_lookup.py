import pytest

from mloml import learners
from mloml.config.lookup import is_foreign, is_stream_classifier, learner_class, parameter_names, recordable
from mloml.errors import ConfigError

NCA = "sklearn.neighbors.NeighborhoodComponentsAnalysis"


def test_names_become_classes_and_classes_tell_their_parameters():
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    assert learner_class("OPML") is learners.OPML
    assert learner_class(NCA) is NeighborhoodComponentsAnalysis
    assert (is_foreign("OPML"), is_foreign(NCA)) == (False, True)
    assert {"gamma", "scans", "random_state"} <= set(parameter_names(learners.OPML))
    found = [recordable(learner_class(name)) for name in ("Euclidean", "OPML", "MLOML")]
    assert found == [set(), {"scans"}, {"layers", "scans"}]


def test_classifiers_of_streams_may_come_from_elsewhere_and_ours_are_metrics():
    names = ["river.forest.ARFClassifier", "sklearn.linear_model.SGDClassifier", NCA, "MOML", "KISSME"]
    found = [is_stream_classifier(learner_class(name)) for name in names]
    assert found == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Euclidan", "did you mean 'Euclidean'"),
        ("_Hidden", "is not one of"),
        ("no_such_module.Class", "cannot be imported"),
        (".Class", "cannot be imported"),
        ("__main__.Class", ""),
        ("os.path", "is not a class"),
        ("os.nothing", "module os has no nothing"),
        ("sklearn.neighbors.NearestNeighbors", "it has no transform"),
        ("broken.Class", r"importing broken failed \(RuntimeError\('on purpose'\)\)"),
        ("broken_too.Class", r"importing broken_too failed \(ValueError\('on purpose'\)\)"),
        ("bare.Class", "parameter power has no default"),
    ],
)
def test_what_is_no_learner_is_one_line(name, message, tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text("raise RuntimeError('on purpose')")
    (tmp_path / "broken_too.py").write_text("raise ValueError('on purpose')")
    (tmp_path / "bare.py").write_text(
        "class Class:\n    def __init__(self, power): ...\n"
        "    def fit(self): ...\n    transform = get_params = set_params = fit\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match=f"learner '{name}'.*{message}") as caught:
        learner_class(name)
    assert "\n" not in str(caught.value)
