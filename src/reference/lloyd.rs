//! Lloyd relaxation on the CPU.
use super::{dot, shortest_paths};
use crate::{
    Csc, Error, Result,
    graph::{Balance, Energy, Lloyd, Patches, Ranks, Steps, relax},
    primitives::segmented_reduce::RUN_PIECE,
};

/// The label of a vertex that belongs to no patch.
const NONE: u32 = u32::MAX;

/// Computes the patches of the vertices of `g`, with the same bits as [`Lloyd::run`]. `total_ms` is
/// 0.
///
/// ```
/// use blockmul::{generate, graph::Lloyd, reference};
/// let mesh = generate::torus(20, 10)?;
/// let asked = Lloyd::from(&[0, 7, 50]).points(mesh.points());
/// let patches = reference::lloyd(&mesh.graph()?, &asked)?;
/// assert_eq!(patches.seeds.len(), 3);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Lloyd::run`], except errors of devices.
pub fn lloyd(g: &Csc<f64>, asked: &Lloyd<'_>) -> Result<Patches> {
    let seeds = asked.checked(g.ncols())?;
    if let Some(least) = g.values().iter().copied().filter(|length| *length < 0.0).reduce(f64::min) {
        return Err(Error::Argument(format!("patches do not support negative lengths, and the least is {least}")));
    }
    let steps = OnHost { g, entering: g.try_transpose()?, points: asked.points, energy: asked.energy };
    relax(&steps, asked, seeds)
}

/// The steps of the relaxation on the host.
struct OnHost<'a> {
    g: &'a Csc<f64>,
    entering: Csc<f64>,
    points: Option<&'a [[f64; 3]]>,
    energy: Energy,
}

/// The patches of some seeds.
struct State {
    distance: Vec<f64>,
    labels: Vec<u32>,
    members: Vec<Vec<usize>>,
}

impl Steps for OnHost<'_> {
    type State = State;

    fn state(&self, seeds: &[u32], sizes: Option<&[u32]>) -> Result<State> {
        let distance = distances(self.g, seeds)?;
        let labels = nearest(&self.entering, seeds, &Ranks::of(seeds.len(), sizes), &distance);
        let mut members = vec![Vec::new(); seeds.len()];
        for (vertex, &label) in labels.iter().enumerate().filter(|(_, label)| **label != NONE) {
            members[label as usize].push(vertex);
        }
        Ok(State { distance, labels, members })
    }

    fn energy(&self, State { distance, labels, members }: &State) -> Result<f64> {
        match self.points.filter(|_| self.energy == Energy::Centroid) {
            // Vertices without a patch score 0.
            Some(points) => dot(&from_centroids(points, members), &vec![1.0; points.len()]),
            None => {
                let reached = |(&reached, &label)| if label == NONE { 0.0 } else { reached };
                let counted: Vec<f64> = distance.iter().zip(labels).map(reached).collect();
                dot(&counted, &counted)
            }
        }
    }

    fn sizes(&self, state: &State) -> Vec<u32> {
        state.members.iter().map(|of| of.len() as u32).collect()
    }

    fn labels(&self, state: State) -> Result<Vec<u32>> {
        Ok(state.labels)
    }

    fn vertices(&self) -> usize {
        self.g.ncols()
    }

    fn energies(&self, state: &State) -> Result<Vec<f64>> {
        Ok(energies(&state.members, &state.distance))
    }

    fn centres(&self, state: &State, seeds: &[u32]) -> Result<Vec<u32>> {
        let State { labels, members, .. } = state;
        let score = match self.points {
            Some(points) => from_centroids(points, members),
            None => from_borders(self.g, &self.entering, labels)?,
        };
        Ok(centres(members, &score, seeds, labels))
    }

    fn far_ends(&self, state: &State, seeds: &[u32]) -> Result<Vec<u32>> {
        let score: Vec<f64> = state.distance.iter().map(|reached| -reached).collect();
        Ok(centres(&state.members, &score, seeds, &state.labels))
    }

    fn farthest(&self, state: &State, seeds: &[u32], added: &[u32]) -> Result<Option<u32>> {
        let from_added = if added.is_empty() { None } else { Some(distances(self.g, &[seeds, added].concat())?) };
        let distance = from_added.as_ref().unwrap_or(&state.distance);
        let farther = |best: usize, vertex: usize| if distance[vertex] > distance[best] { vertex } else { best };
        let farthest = (0..distance.len()).fold(0, farther);
        Ok((distance[farthest] > 0.0).then_some(farthest as u32))
    }

    fn balance(&self, state: &State, seeds: &[u32]) -> Result<Balance> {
        let without = energies(&state.members, &self.second(&state.distance, &state.labels)?);
        let (g, entering) = (within(self.g, &state.labels)?, within(&self.entering, &state.labels)?);
        let inside = OnHost { g: &g, entering, points: self.points, energy: self.energy };
        Balance::of(self, &inside, state, seeds, &without)
    }
}

impl OnHost<'_> {
    /// The distance of each vertex from the nearest seed of another patch.
    fn second(&self, distance: &[f64], labels: &[u32]) -> Result<Vec<f64>> {
        let (pattern, inside) = (self.entering.pattern(), within(&self.entering, labels)?);
        let ends = |vertex: usize| pattern.entries(vertex).map(|entry| (entry, pattern.row_idx()[entry] as usize));
        let across = |vertex: usize| {
            let edges = ends(vertex).filter(|&(_, from)| labels[from] != labels[vertex]);
            edges.map(|(entry, from)| self.entering.values()[entry] + distance[from]).fold(f64::INFINITY, f64::min)
        };
        let mut second: Vec<f64> = (0..labels.len()).map(across).collect();
        let mut changes = true;
        while changes {
            changes = false;
            for vertex in 0..second.len() {
                for (entry, from) in ends(vertex) {
                    let reached = second[from] + inside.values()[entry];
                    if reached < second[vertex] {
                        (second[vertex], changes) = (reached, true);
                    }
                }
            }
        }
        Ok(second)
    }
}

/// The graph whose edges between different patches have infinite length. Edges within patches keep
/// their length.
fn within(edges: &Csc<f64>, labels: &[u32]) -> Result<Csc<f64>> {
    let pattern = edges.pattern();
    let of_col = |col: usize| pattern.entries(col).map(move |entry| (entry, col));
    let is_inside = |entry: usize, col: usize| labels[pattern.row_idx()[entry] as usize] == labels[col];
    let length = |(entry, col)| if is_inside(entry, col) { edges.values()[entry] } else { f64::INFINITY };
    Csc::new(pattern.clone(), (0..edges.ncols()).flat_map(of_col).map(length).collect())
}

/// The energy of each patch.
fn energies(members: &[Vec<usize>], distance: &[f64]) -> Vec<f64> {
    members.iter().map(|of| sum_in_pieces(of, |vertex| distance[vertex] * distance[vertex])).collect()
}

/// The sum over vertices, in pieces of 1024.
fn sum_in_pieces(vertices: &[usize], value: impl Fn(usize) -> f64) -> f64 {
    let pieces = vertices.chunks(RUN_PIECE).map(|piece| piece.iter().fold(-0.0, |sum, &vertex| sum + value(vertex)));
    pieces.fold(-0.0, |sum, piece| sum + piece)
}

fn distances(g: &Csc<f64>, sources: &[u32]) -> Result<Vec<f64>> {
    let sources: Vec<usize> = sources.iter().map(|&source| source as usize).collect();
    match sources.is_empty() {
        true => Ok(vec![f64::INFINITY; g.ncols()]),
        false => shortest_paths(g, &sources),
    }
}

/// For each vertex, the lowest rank of a seed from which a chain of tight edges leads to the
/// vertex. The lowest rank determines the patch of the vertex.
fn nearest(entering: &Csc<f64>, seeds: &[u32], ranks: &Ranks, distance: &[f64]) -> Vec<u32> {
    let mut rank = vec![NONE; distance.len()];
    seeds.iter().zip(&ranks.rank).for_each(|(&seed, &of)| rank[seed as usize] = rank[seed as usize].min(of));
    let mut changes = true;
    while changes {
        changes = false;
        for vertex in (0..distance.len()).filter(|&vertex| distance[vertex] < f64::INFINITY) {
            for entry in entering.pattern().entries(vertex) {
                let from = entering.pattern().row_idx()[entry] as usize;
                let is_tight = entering.values()[entry] + distance[from] == distance[vertex];
                if is_tight && rank[from] < rank[vertex] {
                    (rank[vertex], changes) = (rank[from], true);
                }
            }
        }
    }
    rank.into_iter().map(|rank| if rank == NONE { NONE } else { ranks.patch[rank as usize] }).collect()
}

/// The squared distances in space between the members and the centroid of their patch.
fn from_centroids(points: &[[f64; 3]], members: &[Vec<usize>]) -> Vec<f64> {
    let mut score = vec![0.0; points.len()];
    for of in members.iter().filter(|of| !of.is_empty()) {
        let centre: [f64; 3] =
            std::array::from_fn(|axis| sum_in_pieces(of, |vertex| points[vertex][axis]) / of.len() as f64);
        of.iter().for_each(|&vertex| score[vertex] = crate::mesh::square(points[vertex], centre));
    }
    score
}

/// The negative distances from the borders of patches.
fn from_borders(g: &Csc<f64>, entering: &Csc<f64>, labels: &[u32]) -> Result<Vec<f64>> {
    let crosses = |edges: &Csc<f64>, vertex: usize| {
        edges.pattern().column(vertex).iter().any(|&other| labels[other as usize] != labels[vertex])
    };
    let border = (0..labels.len()).filter(|&vertex| crosses(g, vertex) || crosses(entering, vertex));
    let border: Vec<u32> = border.map(|vertex| vertex as u32).collect();
    Ok(distances(g, &border)?.into_iter().map(|reached| -reached).collect())
}

/// The member of each patch with the lowest score. If several members of a patch have the lowest
/// score, the result is the patch's seed if it is one of them, otherwise the first of them.
fn centres(members: &[Vec<usize>], score: &[f64], seeds: &[u32], labels: &[u32]) -> Vec<u32> {
    let centre = |(patch, &seed): (usize, &u32)| {
        let least =
            members[patch].iter().copied().reduce(|best, other| if score[other] < score[best] { other } else { best });
        match least {
            Some(least) if labels[seed as usize] != patch as u32 || score[seed as usize] != score[least] => {
                least as u32
            }
            _ => seed,
        }
    };
    seeds.iter().enumerate().map(centre).collect()
}
