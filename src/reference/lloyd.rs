//! Lloyd relaxation on the CPU.
use super::{dot, shortest_paths};
use crate::{
    Csc, Error, Result,
    graph::{Lloyd, Patches, Ranks},
    primitives::segmented_reduce::RUN_PIECE,
};

/// Stands for no patch.
const NONE: u32 = u32::MAX;

/// The patches that [`Lloyd::run`] makes of the vertices of `g`, with the same bits. `total_ms` is
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
/// As [`Lloyd::run`], but for those of devices.
pub fn lloyd(g: &Csc<f64>, asked: &Lloyd<'_>) -> Result<Patches> {
    let mut seeds = asked.checked(g.ncols())?;
    if let Some(least) = g.values().iter().copied().filter(|length| *length < 0.0).reduce(f64::min) {
        return Err(Error::Argument(format!("patches take no negative length, the least is {least}")));
    }
    let entering = g.try_transpose()?;
    let mut found = Patches::none(&seeds);
    let mut sizes: Option<Vec<u32>> = None;
    for step in 0..=asked.steps {
        let distance = distances(g, &seeds)?;
        let ranks = Ranks::of(seeds.len(), sizes.as_deref());
        let labels = nearest(&entering, &seeds, &ranks, &distance);
        let counted: Vec<f64> =
            distance.iter().zip(&labels).map(|(&reached, &label)| if label == NONE { 0.0 } else { reached }).collect();
        let energy = dot(&counted, &counted)?;
        let unreached = labels.iter().filter(|&&label| label == NONE).count();
        if found.is_better(energy, unreached) {
            found = Patches { labels: labels.clone(), seeds: seeds.clone(), best: step, unreached, ..found };
        }
        found.energies.push(energy);
        if step == asked.steps {
            break;
        }
        let mut members = vec![Vec::new(); seeds.len()];
        labels.iter().enumerate().filter(|(_, label)| **label != NONE).for_each(|(vertex, &label)| {
            members[label as usize].push(vertex);
        });
        let score = match asked.points {
            Some(points) => from_centroids(points, &members),
            None => from_borders(g, &entering, &labels)?,
        };
        let mut moved = centres(&members, &score, &seeds, &labels);
        if let Some(empty) = members.iter().position(Vec::is_empty) {
            let farther = |best: usize, vertex: usize| if distance[vertex] > distance[best] { vertex } else { best };
            moved[empty] = (0..distance.len()).fold(0, farther) as u32;
        }
        if asked.balanced {
            sizes = Some(members.iter().map(|of| of.len() as u32).collect());
        }
        if moved == seeds {
            break;
        }
        seeds = moved;
    }
    Ok(found)
}

fn distances(g: &Csc<f64>, sources: &[u32]) -> Result<Vec<f64>> {
    let sources: Vec<usize> = sources.iter().map(|&source| source as usize).collect();
    match sources.is_empty() {
        true => Ok(vec![f64::INFINITY; g.ncols()]),
        false => shortest_paths(g, &sources),
    }
}

/// The lowest rank of a seed from which a chain of tight edges leads to each vertex; its patch.
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

/// Squares of the distances in space from the centroids.
fn from_centroids(points: &[[f64; 3]], members: &[Vec<usize>]) -> Vec<f64> {
    let mut score = vec![0.0; points.len()];
    for of in members.iter().filter(|of| !of.is_empty()) {
        let sum =
            |axis: usize, vertices: &[usize]| vertices.iter().fold(-0.0, |sum, &vertex| sum + points[vertex][axis]);
        let centre: [f64; 3] = std::array::from_fn(|axis| {
            let pieces = of.chunks(RUN_PIECE).map(|piece| sum(axis, piece));
            pieces.fold(-0.0, |sum, piece| sum + piece) / of.len() as f64
        });
        of.iter().for_each(|&vertex| score[vertex] = crate::mesh::square(points[vertex], centre));
    }
    score
}

/// Distances from borders, negative.
fn from_borders(g: &Csc<f64>, entering: &Csc<f64>, labels: &[u32]) -> Result<Vec<f64>> {
    let crosses = |edges: &Csc<f64>, vertex: usize| {
        edges.pattern().column(vertex).iter().any(|&other| labels[other as usize] != labels[vertex])
    };
    let border = (0..labels.len()).filter(|&vertex| crosses(g, vertex) || crosses(entering, vertex));
    let border: Vec<u32> = border.map(|vertex| vertex as u32).collect();
    Ok(distances(g, &border)?.into_iter().map(|reached| -reached).collect())
}

/// The member of each patch with the least score: of several the seed, else the first.
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
