//! The loop of Lloyd relaxation, which devices and the reference share.
use super::{Lloyd, Patches};
use crate::{Error, Result, graph::balance::Balance};

/// The label of a vertex without a patch.
const NONE: u32 = u32::MAX;

/// Maximum number of times that seeds are moved from patch to patch. A relaxation follows each
/// time. In the mean of the 30 runs of docs/decisions/0021, balancing lowers energies by 5.3 % with
/// this maximum, by 4.9 % with 5 times, and by 5.3 % with 20 times.
const MOST_BALANCES: usize = 10;

/// The maximum number of sets of moves that are tried from one state. Balancing lowers energies by
/// 5.3 % with 4 tries and by 5.0 % with 2. With 8 tries balancing lowers energies by 5.4 %, in 1.2
/// times as many steps as with 4 tries.
const MOST_TRIES: usize = 4;

/// Number of times that the two seeds of a divided patch move to the centres of their halves.
/// Moving the seeds twice lowers energies no further than moving them once.
const DIVISIONS: usize = 1;

/// The order in which patches take vertices at equal distance from several seeds.
pub(crate) struct Ranks {
    /// The rank of each patch.
    pub rank: Vec<u32>,
    /// The patch of each rank.
    pub patch: Vec<u32>,
}

impl Ranks {
    /// Ranks patches by size, then by number. If `sizes` is `None`, ranks them by number only.
    pub fn of(patches: usize, sizes: Option<&[u32]>) -> Self {
        let mut patch: Vec<u32> = (0..patches as u32).collect();
        if let Some(sizes) = sizes {
            patch.sort_by_key(|&patch| sizes[patch as usize]);
        }
        let mut rank = vec![NONE; patches];
        patch.iter().zip(0..).for_each(|(&patch, of)| rank[patch as usize] = of);
        Self { rank, patch }
    }
}

/// The computations in a step of a relaxation, which a device or the reference carries out.
pub(crate) trait Steps {
    /// The patches of some seeds.
    type State;
    /// The patches around seeds. If several seeds are equally near, a vertex goes to the smallest
    /// of their patches. If several of these patches are equally small, the vertex goes to the
    /// patch with the lowest number.
    fn state(&self, seeds: &[u32], sizes: Option<&[u32]>) -> Result<Self::State>;
    /// The energy that the options ask for.
    fn energy(&self, state: &Self::State) -> Result<f64>;
    /// The energy of each patch, computed from distances along the edges.
    fn energies(&self, state: &Self::State) -> Result<Vec<f64>>;
    /// The number of vertices of each patch.
    fn sizes(&self, state: &Self::State) -> Vec<u32>;
    /// The patch of each vertex.
    fn labels(&self, state: Self::State) -> Result<Vec<u32>>;
    /// The centres of patches; a patch without vertices keeps its seed.
    fn centres(&self, state: &Self::State, seeds: &[u32]) -> Result<Vec<u32>>;
    /// The vertex of each patch that is farthest from its seed.
    fn far_ends(&self, state: &Self::State, seeds: &[u32]) -> Result<Vec<u32>>;
    /// The vertex that is farthest from all seeds and from the `added` vertices. If several
    /// vertices are farthest, the result is the first of them; if all vertices are at distance 0,
    /// `None`. A vertex out of reach is infinitely far.
    fn farthest(&self, state: &Self::State, seeds: &[u32], added: &[u32]) -> Result<Option<u32>>;
    /// The costs of giving patches up and the gains of dividing them. Each patch must have
    /// vertices.
    fn balance(&self, state: &Self::State, seeds: &[u32]) -> Result<Balance>;
    fn vertices(&self) -> usize;
}

impl Balance {
    /// Computes the costs and gains of patches. Every patch must have vertices. `inside` computes
    /// along edges within patches only. For each patch, `without` has the energy that its vertices
    /// would have if they went to other seeds.
    pub fn of<S: Steps>(whole: &S, inside: &S, state: &S::State, seeds: &[u32], without: &[f64]) -> Result<Self> {
        let (patches, now, sizes) = (seeds.len(), whole.energies(state)?, whole.sizes(state));
        let one = whole.far_ends(state, seeds)?;
        let other = inside.far_ends(&inside.state(&one, None)?, &one)?;
        let mut halves = [one, other].concat();
        let (mut divided, mut best) = (vec![f64::INFINITY; patches], halves.clone());
        for step in 0..=DIVISIONS {
            let of_halves = inside.state(&halves, None)?;
            let (energies, reached) = (inside.energies(&of_halves)?, inside.sizes(&of_halves));
            for patch in 0..patches {
                let (one, other) = (patch, patches + patch);
                let energy = energies[one] + energies[other];
                if reached[one] + reached[other] == sizes[patch] && energy < divided[patch] {
                    divided[patch] = energy;
                    (best[one], best[other]) = (halves[one], halves[other]);
                }
            }
            if step < DIVISIONS {
                halves = inside.centres(&of_halves, &halves)?;
            }
        }
        let others = best.split_off(patches);
        let costs = without.iter().zip(&now).map(|(without, now)| without - now).collect();
        let gains = now.iter().zip(&divided).map(|(now, divided)| now - divided).collect();
        Ok(Self { costs, gains, pairs: [best, others] })
    }
}

/// Moves seeds until they stand still. If the options ask for balance, seeds then also move from
/// patch to patch.
pub(crate) fn relax<S: Steps>(steps: &S, asked: &Lloyd<'_>, seeds: Vec<u32>) -> Result<Patches> {
    let none = Patches {
        labels: Vec::new(),
        seeds: seeds.clone(),
        energies: Vec::new(),
        best: 0,
        unreached: usize::MAX,
        total_ms: 0.0,
    };
    let mut relaxation = Relaxation { steps, asked, found: none, best: None };
    relaxation.run(seeds, None)?;
    if asked.balanced {
        relaxation.balance()?;
    }
    let Relaxation { best, found, .. } = relaxation;
    if found.energy().is_infinite() {
        let why = "the energy of the patches is above the largest number: lengths have to be smaller";
        return Err(Error::Argument(why.into()));
    }
    let labels = best.map_or(Ok(Vec::new()), |best| steps.labels(best.state))?;
    Ok(Patches { labels, ..found })
}

/// A relaxation in progress, with the best patches found so far.
struct Relaxation<'a, S: Steps> {
    steps: &'a S,
    asked: &'a Lloyd<'a>,
    /// The best patches found so far, without labels.
    found: Patches,
    best: Option<Best<S::State>>,
}

/// The best state.
struct Best<T> {
    state: T,
    sizes: Vec<u32>,
}

impl<S: Steps> Relaxation<'_, S> {
    /// Moves seeds until they stand still. Keeps the best state, and returns whether a better state
    /// was found. If `sizes` is given, a vertex at equal distance from several seeds goes to the
    /// smallest patch.
    fn run(&mut self, mut seeds: Vec<u32>, mut sizes: Option<Vec<u32>>) -> Result<bool> {
        let (steps, asked) = (self.steps, self.asked);
        let mut found_better = false;
        for step in 0..=asked.steps {
            let state = steps.state(&seeds, sizes.as_deref())?;
            let (energy, of_state) = (steps.energy(&state)?, steps.sizes(&state));
            let moved = if step == asked.steps { None } else { Some(self.moved(&state, &seeds)?) };
            self.found.energies.push(energy);
            let unreached = steps.vertices() - of_state.iter().map(|&size| size as usize).sum::<usize>();
            if self.is_better(energy, unreached, sizes.as_ref().map(|_| &of_state[..])) {
                found_better = true;
                (self.found.best, self.found.unreached) = (self.found.energies.len() - 1, unreached);
                self.found.seeds.clone_from(&seeds);
                self.best = Some(Best { state, sizes: of_state.clone() });
            }
            sizes = sizes.map(|_| of_state);
            if let Some(progress) = &asked.progress {
                progress.tell(step as u64, asked.steps as u64);
            }
            match moved {
                Some(moved) if moved != seeds => seeds = moved,
                _ => break,
            }
        }
        Ok(found_better)
    }

    /// The seeds after a step. The seed of a patch without vertices moves to the vertex that is
    /// farthest from all seeds before the step, and from the vertices to which seeds of other
    /// patches without vertices have moved in this step.
    fn moved(&self, state: &S::State, seeds: &[u32]) -> Result<Vec<u32>> {
        let mut moved = self.steps.centres(state, seeds)?;
        let (sizes, mut added) = (self.steps.sizes(state), Vec::new());
        for (patch, _) in sizes.iter().enumerate().filter(|(_, size)| **size == 0) {
            let Some(farthest) = self.steps.farthest(state, seeds, &added)? else { break };
            moved[patch] = farthest;
            added.push(farthest);
        }
        Ok(moved)
    }

    /// Whether a state is better than the best so far: it has fewer unreached vertices; or equally
    /// many, and a lower energy; or equally many and the same energy, and patches of more even
    /// sizes.
    fn is_better(&self, energy: f64, unreached: usize, sizes: Option<&[u32]>) -> bool {
        let Some(best) = &self.best else { return true };
        let squares = |sizes: &[u32]| sizes.iter().map(|&size| u128::from(size).pow(2)).sum::<u128>();
        let least = self.found.energy();
        let is_more_even = || sizes.is_some_and(|sizes| squares(sizes) < squares(&best.sizes));
        unreached < self.found.unreached
            || (unreached == self.found.unreached && (energy < least || (energy == least && is_more_even())))
    }

    /// Gives vertices at equal distance from several seeds to the smallest patch, then moves seeds
    /// from patch to patch.
    fn balance(&mut self) -> Result<()> {
        if let Some(Best { sizes, .. }) = &self.best {
            let (seeds, sizes) = (self.found.seeds.clone(), sizes.clone());
            let has_ties = self.steps.sizes(&self.steps.state(&seeds, Some(&sizes))?) != sizes;
            if has_ties {
                self.run(seeds, Some(sizes))?;
            }
        }
        let mut left = MOST_BALANCES;
        while let Some(Best { state, sizes }) = self.best.as_ref().filter(|_| left > 0) {
            if sizes.contains(&0) {
                break;
            }
            let (sizes, seeds) = (sizes.clone(), self.found.seeds.clone());
            let moves = self.steps.balance(state, &seeds)?.moves(&seeds, MOST_TRIES.min(left));
            let mut is_lower = false;
            for moved in moves {
                left -= 1;
                is_lower = self.run(moved, Some(sizes.clone()))?;
                if is_lower {
                    break;
                }
            }
            if !is_lower {
                break;
            }
        }
        Ok(())
    }
}
