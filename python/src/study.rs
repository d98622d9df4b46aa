//! Features of positions and decision trees on them.

use crate::arguments::{self, Positions};
use crate::interrupt::{abandonable, parallel};
use crate::memory;
use crate::rules::RulesArgument;
use crate::source::Source;
use crate::tables::PyTables;
use crate::whole::whole;
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::Material;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::sync::atomic::Ordering;
use study::learn::{MaterialTree, learn};
use study::{FeatureChoice, FeatureSet, Winner};

fn choice(name: &str) -> PyResult<FeatureChoice> {
    match name {
        "paper" => Ok(FeatureChoice::Paper),
        "all" => Ok(FeatureChoice::All),
        _ => Err(PyValueError::new_err(format!("the features are 'paper' or 'all', not {name:?}"))),
    }
}

/// The values of the features, a row for each position.
fn rows(py: Python<'_>, set: &FeatureSet, material: Material, positions: &Positions<'_>) -> PyResult<Vec<Vec<i8>>> {
    let view = positions.view();
    let one = |row| {
        let position = view.get(row)?;
        set.values_of(&position).ok_or_else(|| format!("row {row}: not a position of {material} with White to move"))
    };
    memory::need(view.len().saturating_mul(3 * (set.features().len() + size_of::<Vec<i8>>())))?;
    let rows = parallel(py, |stop| {
        let rows = (0..view.len()).into_par_iter().with_min_len(256);
        // After Ctrl-C the result is dropped.
        rows.take_any_while(|_| !stop.load(Ordering::Relaxed)).map(one).collect::<Result<_, String>>()
    })?;
    rows.map_err(PyValueError::new_err)
}

/// Features of the positions of a material with White to move: the features of van Rijn and Vis (2014), and more with
/// the choice 'all'.
#[pyclass(frozen, name = "Features", module = "doushouqi")]
pub(crate) struct PyFeatures {
    material: Material,
    rules: RuleOptions,
    choice: FeatureChoice,
    set: FeatureSet,
}

#[pymethods]
impl PyFeatures {
    #[new]
    #[pyo3(
        signature = (material, *, rules = RulesArgument::default(), choice = "all"),
        text_signature = "(material, *, rules='paper', choice='all')"
    )]
    fn new(material: &str, rules: RulesArgument, choice: &str) -> PyResult<PyFeatures> {
        let (material, rules, choice) = (arguments::material(material)?, rules.0, self::choice(choice)?);
        Ok(PyFeatures { material, rules, choice, set: FeatureSet::new(material, &rules, choice) })
    }

    /// For pickle.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((String,), Bound<'py, PyDict>)> {
        let keywords = PyDict::new(py);
        keywords.set_item("rules", self.rules.to_string())?;
        let choice = if self.choice == FeatureChoice::All { "all" } else { "paper" };
        keywords.set_item("choice", choice)?;
        Ok(((self.material.to_string(),), keywords))
    }

    /// The material.
    #[getter]
    fn material(&self) -> String {
        self.material.to_string()
    }

    /// The names of the features, in the order of the columns of `values`.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.set.features().iter().map(|feature| feature.name.clone()).collect()
    }

    /// The definition of each feature.
    #[getter]
    fn meanings(&self) -> Vec<String> {
        self.set.features().iter().map(|feature| feature.meaning.clone()).collect()
    }

    /// The values of the features as an int8 array, a row for each position.
    fn values<'py>(&self, py: Python<'py>, positions: Positions<'py>) -> PyResult<Bound<'py, PyArray2<i8>>> {
        let rows = rows(py, &self.set, self.material, &positions)?;
        PyArray1::from_vec(py, rows.concat()).reshape([positions.len(), self.set.features().len()])
    }

    fn __len__(&self) -> usize {
        self.set.features().len()
    }
}

/// A decision tree that predicts the winner from features.
#[pyclass(frozen, name = "DecisionTree", module = "doushouqi")]
pub(crate) struct PyTree {
    found: MaterialTree,
}

#[pymethods]
impl PyTree {
    /// The material.
    #[getter]
    fn material(&self) -> String {
        self.found.material.to_string()
    }

    /// The number of leaves.
    #[getter]
    fn leaves(&self) -> usize {
        self.found.tree.leaves()
    }

    /// The most questions before an answer.
    #[getter]
    fn depth(&self) -> usize {
        self.found.tree.depth()
    }

    /// The number of positions it was learned from.
    #[getter]
    fn positions(&self) -> u64 {
        self.found.positions
    }

    /// The number of these positions that the tree misclassifies.
    #[getter]
    fn misclassified(&self) -> u64 {
        self.found.tree.misclassified()
    }

    /// The least number of these positions that any tree on these features misclassifies.
    #[getter]
    fn indistinct(&self) -> u64 {
        self.found.indistinct
    }

    /// The size of the tree in bits.
    #[getter]
    fn bits(&self) -> u64 {
        self.found.bits
    }

    /// The names of the features.
    #[getter]
    fn features(&self) -> Vec<String> {
        self.found.set.features().iter().map(|feature| feature.name.clone()).collect()
    }

    /// The winner by the tree: 1 White, 0 draw, -1 Black.
    fn predict<'py>(&self, py: Python<'py>, positions: Positions<'py>) -> PyResult<Bound<'py, PyArray1<i8>>> {
        let rows = rows(py, &self.found.set, self.found.material, &positions)?;
        let number = |values: &Vec<i8>| match self.found.tree.classify(values) {
            Winner::White => 1,
            Winner::Draw => 0,
            Winner::Black => -1,
        };
        Ok(PyArray1::from_iter(py, rows.iter().map(number)))
    }

    /// The tree as indented text.
    fn to_text(&self) -> String {
        self.found.tree.to_text(self.found.set.features())
    }

    /// The tree as a Graphviz graph.
    fn to_graphviz(&self) -> String {
        self.found.tree.to_graphviz(self.found.set.features(), &self.material())
    }

    /// The tree as JSON.
    fn to_json(&self) -> String {
        self.found.tree.to_json(self.found.set.features()).to_string()
    }

    fn __str__(&self) -> String {
        self.to_text()
    }
}

/// Learns a tree for a material of two or three pieces from tables in memory.
///
/// Without `max_leaves` it is the smallest tree found with as few errors as the features allow. `features` is 'paper',
/// 'all' or None for the better of both.
#[pyfunction]
#[pyo3(signature = (tables, material, *, features = None, max_leaves = None))]
pub(crate) fn learn_tree(
    py: Python<'_>,
    tables: PyRef<'_, PyTables>,
    material: &str,
    features: Option<&str>,
    #[pyo3(from_py_with = whole)] max_leaves: Option<usize>,
) -> PyResult<PyTree> {
    let (source, material) = (tables.source()?, arguments::material(material)?);
    let which = features.map(choice).transpose()?;
    if max_leaves == Some(0) {
        return Err(PyValueError::new_err("a tree has at least one leaf"));
    }
    if !matches!(&*source, Source::Memory(_)) {
        return Err(PyValueError::new_err("a tree is learned from tables in memory: use solve(...)"));
    }
    if material.len() > 3 {
        return Err(PyValueError::new_err("a tree is learned for two or three pieces"));
    }
    let learn = move || match &*source {
        Source::Memory(solver) => learn(solver, material, which, max_leaves),
        Source::Files(_) | Source::Loaded(_) => None,
    };
    let found = abandonable(py, learn)?;
    let found = found.ok_or_else(|| PyValueError::new_err(format!("the tables do not have {material}")))?;
    Ok(PyTree { found })
}
