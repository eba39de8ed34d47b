//! Inputs and outputs as `.npy` files, one a rank: `rank0.npy`, `rank1.npy`, …
//!
//! The format is version 1 to 3 of the NumPy enhancement proposal 1. `bf16`, which NumPy does not
//! know, is stored as `<u2`, the bits of each element.

use crate::output::Failure;
use coll_executor::Request;
use coll_lang::words::DType;
use coll_local::Trial;
use npyz::{DType as NpyDType, NpyHeader, WriterBuilder};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// How NumPy calls an element type.
fn descr(dtype: DType) -> &'static str {
    match dtype {
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U8 => "|u1",
        DType::U16 | DType::Bf16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
    }
}

fn file(folder: &Path, rank: usize) -> PathBuf {
    folder.join(format!("rank{rank}.npy"))
}

/// Reads each rank's input.
pub(super) fn read(folder: &Path, request: &Request, trial: &mut Trial<'_>) -> Result<(), Failure> {
    for (rank, input) in trial.inputs_mut().enumerate() {
        let path = file(folder, rank);
        read_one(&path, request.dtype, input)
            .map_err(|why| Failure::Usage(format!("{}: {why}", path.display())))?;
    }
    Ok(())
}

fn read_one(path: &Path, dtype: DType, input: &mut [u8]) -> Result<(), String> {
    let mut reader = BufReader::new(File::open(path).map_err(|e| e.to_string())?);
    let header = NpyHeader::from_reader(&mut reader).map_err(|e| e.to_string())?;
    let found = header.dtype().descr();
    let wanted = descr(dtype);
    if found.trim_matches('\'') != wanted {
        return Err(format!(
            "its elements are {found}, and --dtype {dtype} needs '{wanted}'"
        ));
    }
    let elements = input.len() as u64 / dtype.size();
    if header.len() != elements {
        return Err(format!(
            "it holds {} elements, and the request needs {elements}",
            header.len()
        ));
    }
    if header.shape().len() > 1 && header.order() == npyz::Order::Fortran {
        return Err("it is in Fortran order; C order is needed".to_owned());
    }
    reader.read_exact(input).map_err(|e| e.to_string())?;
    Ok(())
}

/// Writes each rank's output.
pub(super) fn write(folder: &Path, request: &Request, trial: &Trial<'_>) -> Result<(), Failure> {
    let failed = |path: &Path, why: &dyn std::fmt::Display| {
        Failure::Usage(format!("{}: {why}", path.display()))
    };
    std::fs::create_dir_all(folder).map_err(|e| failed(folder, &e))?;
    for (rank, output) in trial.outputs().enumerate() {
        let path = file(folder, rank);
        write_one(&path, request.dtype, output).map_err(|e| failed(&path, &e))?;
    }
    Ok(())
}

/// Writes the header with npyz and the elements as they are: they are little-endian already.
fn write_one(path: &Path, dtype: DType, output: &[u8]) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let elements = output.len() as u64 / dtype.size();
    let plain = descr(dtype).parse().map_err(std::io::Error::other)?;
    let mut header = Vec::new();
    npyz::WriteOptions::<u8>::new()
        .dtype(NpyDType::Plain(plain))
        .shape(&[elements])
        .writer(&mut header)
        .begin_nd()?;
    file.write_all(&header)?;
    file.write_all(output)?;
    file.flush()
}
