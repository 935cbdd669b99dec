"""Reports in process: equal to the command's, with the callables' errors reported."""

import json
import os
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest

import yomikiri as ym

SOLVER = os.environ.get("SOLVER")


def network(planes):
    """A network of fixed random weights, with a value."""
    random = np.random.default_rng(7)
    first, second = random.normal(size=(32, 48)), random.normal(size=(48, 17))
    hidden = np.maximum(planes.reshape(len(planes), -1).astype(np.float64) @ first, 0)
    return hidden @ second, np.tanh(hidden[:, 0] - 2)


@pytest.fixture(scope="module")
def report(table):
    return ym.evaluate(table, network, "greedy", "perfect", progress=False)


@pytest.mark.skipif(not SOLVER, reason="SOLVER is not the program")
def test_figures_are_those_of_the_command(table, report, tables, tmp_path):
    said = subprocess.run(
        [SOLVER, "--tables", tables, "report", "--table", table.name, "--policy", "greedy,perfect", "--json", "-q", "--mistakes", "10"],
        check=True, capture_output=True, text=True,
    )
    theirs = json.loads(said.stdout)
    assert theirs["table"].pop("taken") == "as named"
    ours = ym.evaluate(table, "greedy", "perfect").json
    assert ours["table"].pop("taken") is None
    assert {name: theirs[name] for name in ours} == ours
    # The callable's figures equal those of its predictions in files.
    states = tmp_path / "states"
    subprocess.run([SOLVER, "--tables", tables, "export", table.name, "--states", "--out", states, "-q"], check=True)
    logits, values = network(np.load(states / "planes.npy"))
    np.save(states / "logits.npy", logits)
    np.save(states / "values.npy", values)
    said = subprocess.run(
        [SOLVER, "--tables", tables, "report", "--table", table.name, "--policy", f"predictions:{states}", "--metrics", "-q"],
        check=True, capture_output=True, text=True,
    )
    theirs = json.loads(said.stdout)
    assert theirs == {**report.metrics, "policy": theirs["policy"]}


def test_a_report_has_every_form(report, table, tmp_path):
    assert report.ranking[0] == "perfect" and report["perfect"]["result_kept"] == 1
    frame = report.to_pandas()
    assert frame.loc["greedy", "result_kept"] == report["greedy"]["result_kept"] and len(frame) == 3
    layers = report.to_pandas("layer")
    assert layers[layers.policy == "greedy"].all_positions.sum() == 56_621
    page = report.to_html(tmp_path / "r.html")
    assert page.startswith("<!doctype html>") and (tmp_path / "r.html").read_text() == page
    assert "<title>greedy on" in report.to_html(highlight="greedy")
    with pytest.raises(ValueError, match="did you mean `greedy`"):
        report.to_html(highlight="gredy")
    (tmp_path / "earlier.json").write_text(json.dumps(report.json))
    for earlier in (report, tmp_path / "earlier.json"):
        assert "No figure of the compared policies changed." in report.to_html(against=earlier)
    assert "result" in str(report) and "<table>" in report._repr_html_()
    mistakes = report.mistakes(3)
    assert len(mistakes) == 3 and "<svg" in mistakes[0]._repr_html_()
    # The figures of the first screen, and an answer with its moves.
    kept = f"{report.metrics['result_kept']:.1%}"
    assert f"<td>{kept}</td>" in report._repr_html_() and kept in str(report)
    answer = table.lookup("start")._repr_html_()
    assert "<svg" in answer and "loses by 8 discs" in answer and answer.count("<b>loss</b>") == 4
    assert report.mistakes(2, "perfect") == []


def test_all_that_a_callable_may_give(table):
    def run(policy, **options):
        return ym.evaluate(table, policy, games=False, mistakes=0, **options).metrics

    def actions(planes, legal):
        return legal.argmax(axis=1)

    first = run(actions)
    probabilities = run(lambda planes, legal: {"probabilities": np.eye(17)[legal.argmax(axis=1)]})
    logits = run(lambda planes, legal: np.where(np.eye(17)[legal.argmax(axis=1)] > 0, 0.0, -np.inf))
    for name in ("result_kept", "score_lost", "win_to_loss"):
        assert first[name] == probabilities[name] == logits[name]
    uniform, random = run(lambda planes: np.zeros((len(planes), 17), np.float32)), run("random")
    for name in random:
        if name not in ("policy", "rank_correlation", "top_1", "top_2", "top_3") and not name.startswith("all_"):
            assert uniform[name] == pytest.approx(random[name], abs=1e-12) or uniform[name] is None
    truth = {"scores": lambda v: np.nan_to_num(v.q, nan=-99), "values": lambda v: v.outcome, "final_scores": lambda v: v.score}

    def told(planes):
        values = table.lookup(planes)
        return {name: of(values) for name, of in truth.items()}

    perfect = run(told)
    assert perfect["score_kept"] == perfect["all_score_kept"] == 1
    assert perfect["value_error"] == perfect["final_score_error"] == 0 and perfect["rank_correlation"] == pytest.approx(1)


def test_a_callable_gets_no_more_at_once_than_caches_hold(table):
    sizes = []

    def policy(planes, legal):
        sizes.append(len(planes))
        assert len(legal) == len(planes)
        return np.zeros((len(planes), 17))

    ym.evaluate(table, policy, games=False)
    # A few positions are repeated.
    assert 56_621 < sum(sizes) < 58_500 and max(sizes) <= 2048


@pytest.mark.parametrize("layout", ["nchw", "nhwc", "pgx", "flat", "signed", "openspiel", "openspiel-nhwc"])
def test_planes_come_in_the_layout_that_is_asked_for(table, layout):
    seen = []

    def policy(planes):
        seen.append(planes.copy())
        return np.zeros((len(planes), 17))

    ym.evaluate(table, policy, layout=layout, games=False, mistakes=0, canonical=True)
    planes = np.concatenate(seen)
    assert (table.game.positions(planes[:500], layout=layout).planes(layout) == planes[:500]).all()


def test_other_libraries_arrays_are_taken(table):
    numpy = ym.evaluate(table, lambda planes: network(planes)[0], games=False).metrics["score_lost"]

    class Tensor:  # with PyTorch's interface
        def __init__(self, array):
            self.array, self.dtype = array, array.dtype

        def detach(self):
            return self

        cpu = detach

        def __array__(self, dtype=None, copy=None):
            return self.array

    assert ym.evaluate(table, lambda planes: Tensor(network(planes)[0]), games=False).metrics["score_lost"] == numpy

    class Capsule:  # supports DLPack only
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    assert ym.evaluate(table, lambda planes: Capsule(network(planes)[0]), games=False).metrics["score_lost"] == numpy


def test_jax_arrays_are_taken(table):
    jnp = pytest.importorskip("jax.numpy")
    ours = ym.evaluate(table, lambda planes: planes.reshape(len(planes), -1)[:, :17], games=False).metrics
    theirs = ym.evaluate(table, lambda planes: jnp.asarray(planes.reshape(len(planes), -1)[:, :17]), games=False).metrics
    assert {**theirs, "policy": ""} == {**ours, "policy": ""}


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (lambda planes: np.zeros((len(planes), 15)), "a policy has 16, or 17 with the pass.* .outputs: answer 15."),
        (lambda planes: np.zeros((len(planes) - 1, 17)), r"invalid answer: \d+ for \d+ positions .shape"),
        (lambda planes: np.zeros(17 * len(planes)), "shape"),
        (lambda planes: np.full((len(planes), 17), np.nan), "NaN of the policy in the position '"),
        (lambda planes: np.full(len(planes), 16), "illegal action 16 in the position '.*; legal are "),
        (lambda planes: np.zeros(3, int), "invalid answer: 3 for"),
        (lambda planes: {"probabilities": np.full((len(planes), 17), 1 / 17)}, "probability .* of the illegal action"),
        (lambda planes: {"probabilities": np.zeros((len(planes), 17))}, "their sum over the legal moves is 0"),
        (lambda planes: {}, "expected one of logits"),
        (lambda planes: np.zeros((len(planes), 3)), "no output found for a policy or a value"),
        (lambda planes: (np.zeros((len(planes), 17)), np.full(len(planes), 1.5)), "invalid value 1.5.*range=01"),
        (lambda planes: (np.zeros((len(planes), 17)), np.zeros(2)), "invalid values: 2 for"),
    ],
)
def test_answers_that_make_no_sense_are_one_exception(table, policy, words):
    with pytest.raises(ym.PolicyError, match=words):
        ym.evaluate(table, policy, names=["it"])


def test_what_a_callable_raises_comes_through(table):
    def raises(planes):
        raise KeyError("weights")

    with pytest.raises(KeyError, match="weights"):
        ym.evaluate(table, raises)
    with pytest.raises(TypeError, match="expected numbers"):
        ym.evaluate(table, lambda planes: np.array(["a"] * len(planes)))
    with pytest.raises(KeyboardInterrupt):
        ym.evaluate(table, lambda planes: (_ for _ in ()).throw(KeyboardInterrupt))
    # The next call works as usual.
    assert ym.evaluate(table, "perfect", games=False).metrics["result_kept"] == 1


@pytest.mark.parametrize(
    ("policies", "options", "error", "words"),
    [
        (("nobody",), {}, ValueError, "nobody"), ((), {}, ValueError, "at least one"), ((3,), {}, TypeError, "int"),
        (("greedy",), {"names": []}, ValueError, "names"), (("greedy",), {"split": "rest"}, ValueError, "split"),
        ((network,), {"layout": "chw"}, ValueError, "layout.*notations"), ((network,), {"planes": "mine"}, ValueError, "planes"),
        (("learned:no-such-network",), {}, ym.PolicyError, "no-such-network"),
        (("onnx:no-such-file",), {}, ym.PolicyError, "no-such-file"),
    ],
)
def test_bad_requests_are_one_exception(table, policies, options, error, words):
    with pytest.raises(error, match=words):
        ym.evaluate(table, *policies, **options)


def test_parts_and_images_are_measured(table):
    parts = [ym.evaluate(table, "greedy", split=split, games=False).metrics for split in ("train", "validation", "test")]
    whole = ym.evaluate(table, "greedy", games=False).metrics
    assert sum(part["all_positions"] for part in parts) == whole["all_positions"] == 56_621
    lost = sum(part["all_positions"] * part["all_score_lost"] for part in parts) / 56_621
    assert lost == pytest.approx(whole["all_score_lost"], abs=1e-12)
    folded = ym.evaluate(table, "greedy", canonical=True, games=False).metrics
    assert folded["result_kept"] == pytest.approx(whole["result_kept"], abs=1e-12)


def test_parts_are_divided_as_the_network_was_trained(table):
    kept = Path(__file__).parents[2] / "tables/policies/supervised-othello-4x4"
    report = ym.evaluate(table, f"learned:{kept}", split="test", games=False)
    assert "0.9 to train" in report.json["table"]["chosen"]
    policy, = report.json["policies"]
    assert policy["splits"]["train"]["all"]["positions"] == 0
    assert policy["splits"]["test"] == policy["total"]
    compared = ym.compare(table, f"learned:{kept}", "greedy", split="test")
    assert "0.9 to train" in compared.json["table"]["chosen"]


def test_what_a_callable_has_learned_from_is_measured_apart(table):
    assert "may have learned from these" in str(ym.evaluate(table, network, games=False))
    report = ym.evaluate(table, network, "greedy", trained="train", games=False)
    assert "may have learned from these" not in str(report)
    alone = ym.evaluate(table, network, split="test", games=False)
    assert report.json["policies"][0]["splits"]["test"] == alone.json["policies"][0]["total"]
    assert report.json["policies"][1]["splits"] is None
    assert report["network"]["result_kept"] == alone["network"]["result_kept"]
    other = ym.evaluate(table, network, trained="train:7", games=False)
    assert other.json["policies"][0]["splits"] != report.json["policies"][0]["splits"]
    for policy, trained in [(network, "test"), (network, "train:x"), ("greedy", "train")]:
        with pytest.raises(ValueError, match="trained"):
            ym.evaluate(table, policy, trained=trained)


def test_games_comparisons_and_best_responses(table):
    played = ym.match(table, "perfect", "random")
    assert played.results["first"]["score"] == pytest.approx(8.09, abs=0.01) or played.results["first"]["score"] > 0
    assert "perfect against random" in str(played)
    mirror = ym.match(table, "random", "perfect").results
    assert mirror["second"]["score"] == pytest.approx(-played.results["first"]["score"], abs=1e-9)
    assert abs(ym.exploitability(table, "perfect")["first"]["result_lost"]) < 1e-9
    compared = ym.compare(table, "greedy", network, worst=4)
    assert len(compared.json["comparison"]["costliest"] if "comparison" in compared.json else compared.json["costliest"]) == 4
    assert "greedy" in str(compared)
    same = ym.compare(table, "greedy", "greedy")
    assert "0" in str(same)


def test_shogi_is_measured_too(animal):
    report = ym.evaluate(animal, "random", "perfect", lambda planes, legal: np.where(legal, 0.0, -np.inf), names=[None, None, "equal"])
    assert report["perfect"]["result_kept"] == 1
    assert report["equal"]["result_kept"] == pytest.approx(report["random"]["result_kept"], abs=1e-12)


def test_a_small_network_is_measured_in_less_than_a_second(table):
    # CPU time, because wall time includes other processes.
    import time

    spent = []
    for _ in range(3):
        begun = time.process_time()
        ym.evaluate(table, network)
        spent.append(time.process_time() - begun)
    assert min(spent) < 1, spent


def test_figures_are_the_same_again(table, report):
    # Cached results equal the first ones, with a separate cache for one image of each position.
    fresh = ym.open(table.path)
    for options in ({}, {"canonical": True}, {"split": "test"}):
        first = ym.evaluate(fresh, network, **options).json
        assert ym.evaluate(fresh, network, **options).json == ym.evaluate(table, network, **options).json == first
    assert ym.evaluate(table, network, "greedy", "perfect").json == report.json
    logits = ym.evaluate(table, lambda planes: network(planes)[0].astype("f4"), games=False).metrics
    wider = ym.evaluate(table, lambda planes: network(planes)[0].astype("f4").astype("f8"), games=False).metrics
    assert logits == wider


def test_nothing_leaks(table, everything):
    import gc

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    def work(times):
        for _ in range(times):
            table.lookup(everything.planes[:5000]).q
        for _ in range(times // 10):
            ym.evaluate(table, network, "greedy", games=False, mistakes=0)

    work(100)
    before = resident()
    work(1000)
    assert resident() - before < 32 << 20


def test_positions_are_searched_where_no_table_reaches(tmp_path):
    game = ym.game("othello-8x8")
    positions = game.sample(60, empty_squares=(5, 7), seed=3)
    assert len(positions) == 60 and positions.notations == game.sample(60, empty_squares=(5, 7), seed=3).notations
    score, q = positions.solve(tables=tmp_path)
    assert (np.isnan(q) == ~positions.legal).all() and (np.nanmax(q, axis=1) == score).all()
    asked = []

    def best(planes, legal):
        asked.append(len(planes))
        found, _ = game.positions(planes).solve(tables=tmp_path)[::-1]
        return {"scores": np.where(legal, np.nan_to_num(found, nan=-99), -99)}

    report = ym.evaluate(positions, best, "random", tables=tmp_path)
    assert report[0]["result_kept"] == 1 and report.json["table"]["judged_states"] == 60 and asked
    intervals = report.json["policies"][1]["intervals"]["result_kept"]
    assert intervals["lower"] < report[1]["result_kept"] < intervals["upper"]
    given = ym.evaluate(game.positions(positions.notations), "random", tables=tmp_path)
    assert "intervals" not in given.json["policies"][0] and given[0]["result_kept"] == report[1]["result_kept"]
    frame = ym.evaluate(positions, "random", tables=tmp_path, positions="all").to_pandas("positions")
    assert frame.position.tolist() == positions.notations
    with pytest.raises(ValueError, match="canonical is for all positions of a table"):
        ym.evaluate(positions, "random", canonical=True)
    with pytest.raises(ValueError, match="by empty squares"):
        ym.game("minishogi").sample(5, weight="games")


def test_comparisons_take_positions(table, tmp_path):
    given = ["start", "start", "c4", "c4b4"]
    compared = ym.compare(table, network, "greedy", positions=given).json
    report = ym.evaluate(table, network, "greedy", positions=given).json
    assert compared["table"] == report["table"] and compared["all"]["positions"] == 4
    for at, who in enumerate(["first_lost", "second_lost"]):
        assert compared["all"]["score"][who] == report["policies"][at]["total"]["all"]["score_lost"]
    sample = ym.game("othello-8x8").sample(50, empty_squares=(5, 7))
    compared = ym.compare(sample, "greedy", "weights", tables=tmp_path)
    interval = compared.json["all"]["score"]["difference"]
    assert interval["lower"] < interval["upper"] and "50 positions: a sample" in str(compared)
    split = ym.compare(table, network, "greedy", split="test").json
    assert split["table"]["source"] == "split"


def test_samples_are_those_of_the_command(table, animal, tmp_path):
    drawn = ym.evaluate(table, "random", sample=500, empty_squares=(2, 8), seed=3).json
    assert drawn["table"]["values"] == "table" and drawn["table"]["judged_states"] == 500
    assert drawn["table"]["chosen"].startswith("a sample, seed 3: 2 to 8 empty squares, each number equally likely")
    same = ym.evaluate(table.game.sample(500, empty_squares=(2, 8), seed=3), "random", tables=tmp_path).json
    assert same["table"]["values"] == "search" and same["table"]["checksum"] == drawn["table"]["checksum"]
    kept = [one["metrics"][0]["score_kept"] for one in (same, drawn)]
    assert kept[0] == pytest.approx(kept[1], abs=1e-12)
    even = ym.evaluate(table, "random", sample=3000, empty_squares=(1, 12), weight="uniform").metrics
    assert even["score_lost"] == pytest.approx(ym.evaluate(table, "random", games=False).metrics["score_lost"], abs=0.4)
    # Without empty squares positions are drawn from the table, which knows their values.
    shogi = ym.evaluate(animal, "random", "perfect", sample=300)
    assert shogi["random"]["all_positions"] == 300 and shogi["perfect"]["result_kept"] == 1
    some = animal.sample(40, seed=1)
    assert len(some) == 40 and some.notations == animal.sample(40, seed=1).notations != animal.sample(40, seed=2).notations
    assert ym.compare(some, "random", "perfect").json["all"]["positions"] == 40
    for options in ({"weight": "uniform"}, {"seed": 2}, {"sample": 5, "positions": "start"}):
        with pytest.raises(ValueError, match="sample"):
            ym.evaluate(table, "random", **options)
    with pytest.raises(ValueError, match="expected games, uniform"):
        table.game.sample(5, weight="even")


def test_values_by_search_are_those_of_the_table(tmp_path, table):
    positions = ym.game("othello-4x4").sample(200, empty_squares=(2, 8))
    score, q = positions.solve(tables=tmp_path)
    values = table.lookup(positions)
    assert (values.score == score).all()
    legal = positions.legal
    assert np.array_equal(q, values.q, equal_nan=True) and (np.isnan(q) == ~legal).all()


def test_figures_go_into_loggers_and_files(report, table, tmp_path):
    scalars = report.scalars()
    assert scalars["ym/result_kept"] == report.metrics["result_kept"] and all(type(number) is float for number in scalars.values())
    assert "ym/policy" not in scalars and "ym/forced_won" not in scalars  # texts and None
    assert report.scalars("", "greedy")["score_lost"] == report["greedy"]["score_lost"]
    with pytest.raises(KeyError, match="'weights' is not in this report: expected one of network, greedy, perfect"):
        report["weights"]
    yaml = pytest.importorskip("yaml")
    for one, model in ((ym.evaluate(table, network), "my: model"), (report, None)):
        text = one.to_markdown(model)
        _, head, body = text.split("---\n", 2)
        index, = yaml.safe_load(head)["model-index"]
        assert index["name"] == (model or "network")
        result, = index["results"]
        figures = {metric["type"]: metric["value"] for metric in result["metrics"]}
        assert figures == one.scalars("") and result["dataset"]["name"] == "othello-4x4"
        assert body.lstrip().startswith("#") and "network" in body


def test_answers_are_kept_position_by_position(table):
    report = ym.evaluate(table, "greedy", network, positions="all")
    frame = report.to_pandas("positions")
    assert len(frame) == 2 * 56_621 and set(frame.policy) == {"greedy", "network"}
    greedy = frame[(frame.policy == "greedy") & frame.decisive_result]
    assert greedy.result_kept.mean() == pytest.approx(report["greedy"]["result_kept"], abs=1e-9)
    # In chosen positions, in the orientation that was given.
    chosen = table.game.positions(["start", "c4", "c4b4"])
    report = ym.evaluate(table, "greedy", positions=chosen)
    rows = report.to_pandas("positions").set_index("position")
    assert set(rows.index) == set(chosen.notations) and report.metrics["all_positions"] == 3
    whole = frame[frame.policy == "greedy"].set_index("position").loc[rows.index]
    assert (whole.score_lost == rows.score_lost).all() and "3 that were given" in report.json["table"]["chosen"]
    planes = chosen.planes()
    assert ym.evaluate(table, "greedy", positions=planes[:1]).metrics["all_positions"] == 1
    # Equal ones count as often as they occur, finished ones are left out, and those out of reach are searched.
    given = ["start", "start", "XXXXXXXXXXXXXXXX X;", "XOOOXX-------XXX X;"]
    report = ym.evaluate(table, "greedy", positions=given)
    assert report.metrics["all_positions"] == 3 and len(report.to_pandas("positions")) == 2
    assert report.json["table"]["left_out"]["finished"] == 1 and report.json["table"]["values"] == "table and search"
    with pytest.raises(ym.PositionError, match="1 finished"):
        ym.evaluate(table, "greedy", positions=["XXXXXXXXXXXXXXXX X;"])
    with pytest.raises(ym.PositionError, match="row 0"):
        ym.evaluate(table, "greedy", positions=["xxxx-xxxx-xxxx-xxx- X;"])
    with pytest.raises(ValueError, match="positions=\"all\""):
        ym.evaluate(table, "greedy").to_pandas("positions")


def test_chosen_positions_of_folded_tables(animal, bounded):
    some = next(animal.states(columns=["board"], batch=20)).board
    report = ym.evaluate(animal, "random", positions=some)
    assert report.metrics["all_positions"] == len(report.to_pandas("positions")) == 20
    with pytest.raises(ym.PositionError, match="1 unproven"):
        ym.evaluate(bounded, "random", positions="start")


def test_results_are_pickled_and_shown(table, report):
    again = pickle.loads(pickle.dumps(report))
    assert str(again) == str(report) and again.full == report.full and again.json == report.json
    assert again.ranking == report.ranking and again["greedy"] == report["greedy"]
    assert again.to_markdown() == report.to_markdown() and again.to_html() == report.to_html()
    assert pickle.loads(pickle.dumps(again)).metrics == report.metrics
    kept = ym.evaluate(table, "greedy", positions=["start"])
    assert pickle.loads(pickle.dumps(kept)).to_pandas("positions").equals(kept.to_pandas("positions"))
    compared, played = ym.compare(table, "greedy", network), ym.match(table, "greedy", network)
    values, positions = table.lookup(["start", "c4"]), table.game.positions(["start", "c4"])
    sampled = ym.game("othello-8x8").sample(5)
    for thing in (compared, played, values, positions, sampled, table, next(table.states()), report.mistakes()):
        again = pickle.loads(pickle.dumps(thing))
        assert type(again) is type(thing) and len(repr(again)) > 0
    assert pickle.loads(pickle.dumps(values)).score.tolist() == values.score.tolist()
    assert pickle.loads(pickle.dumps(sampled))._drawn == sampled._drawn
    for thing in (compared, played, table):
        assert thing._repr_html_().startswith("<") and repr(thing).startswith("<yomikiri.")


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (lambda planes: None, "policy 'it' returned None; does it end without `return`"),
        (lambda planes: (planes, planes, planes), "policy 'it' returned a tuple of 3, .* outputs=.'logits', 'values'"),
        (lambda planes: ["a1"] * len(planes), "layout='notations'"),
    ],
)
def test_what_is_easily_forgotten_is_one_line(table, policy, words):
    with pytest.raises(ym.PolicyError, match=words) as said:
        ym.evaluate(table, policy, names=["it"])
    assert "\n" not in str(said.value)
    with pytest.raises(TypeError, match="unexpected keyword argument 'layuot'"):
        ym.evaluate(table, network, layuot="nchw")
    with pytest.raises(TypeError, match="unexpected keyword argument 'oponent'"):
        ym.env(table, oponent="greedy")


def test_numbers_are_nothing_but_what_they_are(table):
    def moves(planes):
        return planes.reshape(len(planes), -1)[:, :17]

    alone = ym.evaluate(table, lambda planes: {"logits": moves(planes)}, games=False)
    more = ym.evaluate(table, lambda planes: {"logits": moves(planes), "times": np.zeros(len(planes))}, games=False)
    assert more.metrics["value_error"] is None and more.metrics["nll"] == alone.metrics["nll"] and "not used: `times`" in str(more)
    # Whole numbers of the name of a value are no moves.
    whole = ym.evaluate(table, lambda planes: {"values": moves(planes)[:, 3].astype(int)}, games=False)
    assert "moves by the values a ply ahead" in str(whole)
    with pytest.raises(ym.PolicyError, match="1 numbers per position"):
        ym.evaluate(table, lambda planes: {"logits": moves(planes), "values": np.zeros(len(planes))}, policy="values")
    with pytest.raises(TypeError, match="outputs names what a callable returns"):
        ym.policy("onnx:m.onnx", outputs="logits")
    # Options of a policy by name follow those it has; a program's own `?` remains its own.
    for name, text in (("onnx:m.onnx?pass=no", "onnx:m.onnx?pass=no,move=best"), ("exec:p.py?x=1", "exec:p.py?x=1?move=best")):
        assert ym.policy(name, move="best").policy == text

    # A position with one move needs no number.
    def unknown(planes, legal):
        return {"logits": np.where(legal.sum(1, keepdims=True) > 1, moves(planes), np.nan)}

    assert ym.evaluate(table, unknown, games=False).metrics["nll"] == alone.metrics["nll"]

    def changing(planes):
        return {"logits": moves(planes)} if len(planes) > 1 else {"logits": moves(planes), "values": np.zeros(1)}

    with pytest.raises(ym.PolicyError, match="expected the same outputs"):
        ym.evaluate(table, changing)


def test_messages_are_short_whatever_was_given(table):
    much = "x" * 1_000_000
    for given in (
        lambda: table.lookup(much),
        lambda: table.lookup(["start", much]),
        lambda: ym.evaluate(table, much),
        lambda: ym.evaluate(table, lambda planes: {much: np.zeros((len(planes), 15))}),
        lambda: ym.evaluate(table, lambda texts: [much] * len(texts), layout="notations"),
        lambda: ym.game(much),
        lambda: ym.open(much),
    ):
        with pytest.raises((ValueError, ym.YomikiriError)) as said:
            given()
        assert len(str(said.value).encode()) <= 2000


def test_moves_may_be_named(table):
    def talker(texts):
        positions = table.game.positions(texts)
        return [next(iter(position.moves)) for position in positions]

    named = ym.evaluate(table, talker, layout="notations", positions=["start", "c4", "c4b4"], names=["it"])
    first = ym.evaluate(table, lambda planes, legal: legal.argmax(1), positions=["start", "c4", "c4b4"], names=["it"])
    assert named.metrics == first.metrics
    with pytest.raises(ym.PolicyError, match="row 0: 'z9' is not legal in '.*': expected one of "):
        ym.evaluate(table, lambda texts: ["z9"] * len(texts), layout="notations")


def test_estimators_are_policies(table):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    assert sklearn.__version__
    data = table.dataset("train")
    planes = data.planes.reshape(len(data), -1)
    forest = RandomForestClassifier(5, random_state=0).fit(planes, data.policy.argmax(1))
    figures = ym.evaluate(table, forest, games=False)["RandomForestClassifier"]
    best = ym.evaluate(table, forest, games=False, move="best").metrics
    random = ym.evaluate(table, "random", games=False).metrics
    assert random["result_kept"] < figures["result_kept"] < 1 and best["result_kept"] > random["result_kept"]
    # The same by hand, as the guide of policies has it.

    def policy(planes):
        scores = np.zeros((len(planes), 17))
        scores[:, forest.classes_] = forest.predict_proba(planes.reshape(len(planes), -1))
        return {"scores": scores}

    assert ym.evaluate(table, policy, games=False, names=["it"]).metrics == best
    q = np.nan_to_num(table.lookup(data.planes).q, nan=-16)
    regression = make_pipeline(StandardScaler(), LinearRegression()).fit(planes, q)
    assert ym.evaluate(table, regression, games=False).metrics["result_kept"] > random["result_kept"]
    with pytest.raises(TypeError, match="policy of type int"):
        ym.evaluate(table, 3)


def test_compiled_functions_are_asked_in_few_sizes(table):
    jax = pytest.importorskip("jax")
    shapes = []

    def numpy(planes):
        return planes.reshape(len(planes), -1)[:, :17] * 3

    @jax.jit
    def network(planes):
        shapes.append(planes.shape)
        return planes.reshape(len(planes), -1)[:, :17] * 3

    expected = ym.evaluate(table, numpy, names=["it"])
    for policy in (network, lambda planes: network(planes)):
        report = ym.evaluate(table, policy, names=["it"])
        assert report["it"]["result_kept"] == pytest.approx(expected["it"]["result_kept"], abs=1e-6)
    assert len(set(shapes)) <= 2, shapes
    # A function that is known by its answers only.
    sizes = set()
    jnp = jax.numpy

    def late(planes):
        sizes.add(len(planes))
        return jnp.asarray(numpy(planes)), jnp.zeros(len(planes))

    ym.evaluate(table, late, games=False)
    assert len(sizes) <= 3, sizes


def test_policies_by_name_get_the_name_that_is_given(table):
    own = ym.evaluate(table, "greedy", "perfect", "alphabeta:2", games=False)
    named = ym.evaluate(table, "greedy", "perfect", "alphabeta:2", games=False, names=["a", "b", None])
    assert named.policies == ["a", "b", "alphabeta:2"]
    assert [named[at] for at in range(3)] == [own[at] for at in range(3)]
    assert ym.compare(table, "greedy", "random", names=["a", None]).json["policies"] == ["a", "random"]
