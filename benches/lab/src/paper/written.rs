//! `--write-models`: the generated matrices of a study as files, so that the programs of
//! `benches/peers` can time other libraries on them. The values of these files are small positive
//! integers, because some libraries drop entries that cancel.
use super::{Setting, evtushenko, garland, models, parger, polok, shi};
use blockmul::{Cbc, Csc, Csr, Matrix, generate::Random, io::binary};
use blockmul_cli::bench::matrices::Input;
use blockmul_cli::failure::Failure;

/// Writes the models of Polok 2015, and its families in their blocks.
pub fn polok(setting: &Setting<'_>) -> Result<(), Failure> {
    for model in &polok::matrices::MODELS {
        let a = model.matrix(setting.most)?;
        write(setting, &model.stand_in(), &Csc::new(a.pattern().clone(), values(a.nnz()))?)?;
    }
    for name in models::polok(setting.most) {
        if let Ok(Input::Family(named)) = Input::parse(&name) {
            let matrix = named.matrix(named.block())?;
            let (pattern, values) = (matrix.pattern().clone(), values(matrix.values().len()));
            write(setting, &name, &Cbc::new(pattern, matrix.shape(), values)?)?;
        }
    }
    Ok(())
}

/// Writes the models of Parger 2020 whose products other libraries can compute.
pub fn parger(setting: &Setting<'_>) -> Result<(), Failure> {
    for parger::Operands { name, make, .. } in parger::generated(setting.most, &setting.args.only)? {
        let (a, b) = make()?;
        match is_multiplied(&a, b.as_ref()) {
            true => write(setting, &name, &Csc::new(a.pattern().clone(), values(a.nnz()))?)?,
            false => setting.lab.messages.say(&format!("{name}: not written, a product of two other matrices")),
        }
    }
    Ok(())
}

/// Writes the models of Shi 2020.
pub fn shi(setting: &Setting<'_>) -> Result<(), Failure> {
    for model in &shi::TABLE_III {
        let a = model.matrix(setting.most)?;
        let by_rows = Csc::new(a.as_cbc().pattern.clone(), values(a.values().len()))?;
        write(setting, model.name, &Csr::from_transpose(by_rows))?;
    }
    Ok(())
}

/// Writes the matrices of Evtushenko 2019, by rows.
pub fn evtushenko(setting: &Setting<'_>) -> Result<(), Failure> {
    evtushenko::generated(setting.most)?.iter().try_for_each(|matrix| write_by_rows(setting, &matrix.name, &matrix.a))
}

/// Writes the matrices of section 3 of Garland 2008, by rows.
pub fn garland(setting: &Setting<'_>) -> Result<(), Failure> {
    let matrices = garland::generated_matrices(setting.most)?;
    matrices.iter().try_for_each(|(name, a)| write_by_rows(setting, name, &a.to_scalars()))
}

fn write_by_rows(setting: &Setting<'_>, name: &str, a: &Csc<f64>) -> Result<(), Failure> {
    let by_rows = a.try_transpose()?;
    let values = values(by_rows.nnz());
    write(setting, name, &Csr::from_transpose(Csc::new(by_rows.pattern().clone(), values)?))
}

/// `count` random values from 1 to 8.
fn values(count: usize) -> Vec<f64> {
    let random = &mut Random::new(1);
    (0..count).map(|_| 1.0 + random.below(8) as f64).collect()
}

/// Whether the programs of `benches/peers` compute this product A·B. These programs multiply A by
/// itself if it is square, else by its transpose.
fn is_multiplied(a: &Csc<f64>, b: Option<&Csc<f64>>) -> bool {
    let square = a.nrows() == a.ncols();
    b.map_or(square, |b| !square && *b == a.transpose())
}

fn write<M: Matrix>(setting: &Setting<'_>, name: &str, matrix: &M) -> Result<(), Failure> {
    let path = setting.folder.join(format!("{name}.bsr"));
    binary::write(&path, matrix)?;
    setting.lab.messages.passed(|| format!("{}: written", path.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::{drawn, hubs};

    #[test]
    fn other_libraries_multiply_a_matrix_by_itself_or_its_transpose() -> blockmul::Result<()> {
        let (wide, square) = (drawn([6, 9], 2)?, drawn([9, 9], 2)?);
        assert!(is_multiplied(&square, None) && !is_multiplied(&wide, None));
        let [of_wide, of_square] = [&wide, &square].map(Csc::transpose);
        assert!(is_multiplied(&wide, Some(&of_wide)) && !is_multiplied(&square, Some(&of_square)));
        let (a, b) = hubs(10)?;
        assert!(!is_multiplied(&a, b.as_ref()));
        Ok(())
    }
}
