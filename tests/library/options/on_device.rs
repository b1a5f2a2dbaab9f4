//! The product that a row of options describes, computed on the device and compared with the
//! reference.
use super::{
    host::Host,
    rows::{
        A_T, ALIGNMENT, B_T, BLOCKS, DROP, HOW, KIND, LIMIT, MASK, METHOD, PART, ROW_MAJOR, RUN, Row, SCALARS, TO_HOST,
        TOLERANCE, WEIGHTS,
    },
};
use crate::common::{device, equal};
use blockmul::{
    Bsr, Cbc, Csc, DeviceMatrix, DeviceVector, Matrix, Method, Part, Planned, Product, Result,
    element::Field,
    groups::{BlockGroups, DeviceGroups},
    product::{Factor, Inputs, Weights},
};

/// Applies the options of a row to a product and returns the result on the host.
macro_rules! result {
    ($row:expr, $product:expr, $factors:expr, $mask:expr, $weights:expr) => {{
        let (row, weights, mask) = ($row, $weights, $mask);
        let mut product =
            $product.method(std::iter::once(Method::Auto).chain(Method::ALL.iter().copied()).nth(row[METHOD]).unwrap());
        if let Some(weights) = weights {
            product = product.weighted(weights);
        }
        match row[PART] {
            0 => {}
            1 => product = product.part(Part::Lower),
            _ => product = product.part(Part::Upper),
        }
        if row[MASK] == 1 {
            product = product.mask(&mask);
        }
        if row[DROP] == 1 {
            product = product.drop_below(TOLERANCE);
        }
        if row[ALIGNMENT] == 1 {
            product = product.alignment(64);
        }
        if row[LIMIT] == 1 {
            product = product.memory_limit(1 << 20);
        }
        match row[HOW] {
            RUN => product.run()?.download(),
            TO_HOST => product.run_to_host().map(|(c, _)| c),
            _ => {
                let plan = product.plan()?;
                let mut c = plan.output()?;
                let factors = || match $factors[..] {
                    [a, b] => Inputs::from((a, b)),
                    [a, b, c] => Inputs::from((a, b, c)),
                    _ => unreachable!("chains of two and three"),
                };
                match weights {
                    Some(weights) => plan.execute(factors().weights(weights), &mut c)?,
                    None => plan.execute(factors(), &mut c)?,
                };
                c.download()
            }
        }
    }};
}

fn product_of<'a, X: blockmul::product::Operand>(row: &Row, factors: &[&'a X]) -> Product<'a, X> {
    let factor = |x: &'a X, transposed: bool| if transposed { Factor::from(x).t() } else { Factor::from(x) };
    let (a, b) = (factor(factors[0], row[A_T] == 1), factor(factors[factors.len() - 1], row[B_T] == 1));
    match factors {
        [_, middle, _] => Product::of(a, *middle).times(b),
        _ => Product::of(a, b),
    }
}

/// Weights of a group of rows, on the device.
struct OnDevice<M: Matrix> {
    information: DeviceMatrix<M>,
    of_blocks: DeviceVector<M::Element>,
    of_rows: DeviceVector<M::Element>,
}

/// Returns the weights that the row requests.
fn weights_of<'a, M: Matrix>(
    row: &Row,
    OnDevice { information, of_blocks, of_rows }: &'a OnDevice<M>,
) -> Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Element>> {
    match row[WEIGHTS] {
        1 => Weights::Information(information),
        2 => Weights::Scaled { information, weights: of_blocks },
        _ => Weights::Rows(of_rows),
    }
}

/// Returns the factors as they are stored. Some factors are transposed.
fn stored<T: Field>(row: &Row, host: &Host<T>) -> Vec<BlockGroups<Cbc<T>>> {
    let last = host.factors.len() - 1;
    let turned = |number: usize| (number == 0 && row[A_T] == 1) || (number == last && row[B_T] == 1);
    let factors = host.factors.iter().enumerate();
    factors.map(|(number, factor)| if turned(number) { factor.transpose() } else { factor.clone() }).collect()
}

fn weights_on_device<T: Field, M: Matrix<Element = T>>(
    host: &Host<T>,
    make: &dyn Fn(&Cbc<T>) -> M,
) -> Result<Vec<OnDevice<M>>> {
    let one = |group: usize| {
        let vector = |values: &[T]| device().upload_vector(values);
        let information = device().upload(&make(&host.information[group]))?;
        Ok(OnDevice { information, of_blocks: vector(&host.of_blocks[group])?, of_rows: vector(&host.of_rows[group])? })
    };
    (0..host.information.len()).map(one).collect()
}

fn of_matrices<T: Field, M: Matrix<Element = T>>(row: &Row, host: &Host<T>, make: &dyn Fn(&Cbc<T>) -> M) -> Result<()> {
    let only = |groups: &BlockGroups<Cbc<T>>| make(groups.get(0, 0).unwrap());
    let factors = stored(row, host).iter().map(|factor| device().upload(&only(factor))).collect::<Result<Vec<_>>>()?;
    let factors: Vec<&DeviceMatrix<M>> = factors.iter().collect();
    let mask = device().upload(&only(&host.mask))?.pattern();
    let weights = weights_on_device(host, make)?;
    let weights = (row[WEIGHTS] > 0).then(|| weights_of(row, &weights[0]));
    let c: Result<M> = result!(row, product_of(row, &factors), factors, mask, weights);
    equal(&c?, &only(&host.reference(row)), &format!("{row:?}"));
    Ok(())
}

fn of_groups<T: Field>(row: &Row, host: &Host<T>) -> Result<()> {
    let factors = stored(row, host).iter().map(|factor| device().upload_groups(factor)).collect::<Result<Vec<_>>>()?;
    let factors: Vec<&DeviceGroups<Cbc<T>>> = factors.iter().collect();
    let mask = device().upload_groups(&host.mask)?.pattern();
    let weights = weights_on_device(host, &Cbc::clone)?;
    let weights: Vec<_> = weights.iter().map(|weights| weights_of(row, weights)).collect();
    let weights = (row[WEIGHTS] > 0).then_some(&weights[..]);
    let c: Result<BlockGroups<Cbc<T>>> = result!(row, product_of(row, &factors), factors, mask, weights);
    let (c, want) = (c?, host.reference(row));
    for (g, h) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert_eq!(c.get(g, h).is_some(), want.get(g, h).is_some(), "cell ({g}, {h}) of {row:?}");
        if let (Some(c), Some(want)) = (c.get(g, h), want.get(g, h)) {
            equal(c, want, &format!("cell ({g}, {h}) of {row:?}"));
        }
    }
    Ok(())
}

pub fn of_element<T: Field>(row: &Row, seed: u64) -> Result<()> {
    let host = Host::<T>::new(row, seed);
    match row[KIND] {
        BLOCKS => of_matrices(row, &host, &Cbc::clone),
        SCALARS => of_matrices(row, &host, &|m| Csc::new(m.pattern().clone(), m.values().to_vec()).unwrap()),
        ROW_MAJOR => of_matrices(row, &host, &|m| Bsr::from_transpose(m.transpose())),
        _ => of_groups(row, &host),
    }
}
