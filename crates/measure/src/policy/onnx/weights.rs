//! Weights in files beside a model.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Component, Path};

use yomikiri::error::Error;
use yomikiri::input;

use super::proto::{Entry, Model, Tensor};

/// Moves the weights of a model into it: from files in the directory of `path`. Returns the CRC-32 of the model's file, whose
/// bytes are given, followed by those of the weights, in the order of their names.
pub(super) fn inline(model: &mut Model, bytes: &[u8], path: Option<&Path>) -> Result<u32, Error> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut left = input::MODEL.saturating_sub(bytes.len() as u64);
    // Tensors may share bytes of a file.
    let mut copied = left;
    let mut read = |tensor: &mut Tensor| {
        if tensor.external_data.is_empty() {
            return Ok::<(), Error>(());
        }
        let name = said(tensor, "location").unwrap_or_default().to_string();
        if !files.contains_key(&name) {
            let file = file(&name, path, left)?;
            left -= file.len() as u64;
            files.insert(name.clone(), file);
        }
        let part = part(tensor, &name, &files[&name])?;
        copied = copied.checked_sub(part.len() as u64).ok_or_else(too_long)?;
        tensor.raw_data = Some(part.to_vec());
        (tensor.external_data, tensor.data_location) = (Vec::new(), 0);
        Ok(())
    };
    model.graph.iter_mut().try_for_each(|graph| graph.each_tensor(&mut read))?;
    let mut sum = crc32fast::Hasher::new();
    sum.update(bytes);
    files.values().for_each(|file| sum.update(file));
    Ok(sum.finalize())
}

fn too_long() -> Error {
    let most = input::MODEL >> 20;
    format!("the model and its weights are longer than the limit of {most} MiB").into()
}

fn said<'a>(tensor: &'a Tensor, key: &str) -> Option<&'a str> {
    let entry = tensor.external_data.iter().find(|entry: &&Entry| entry.key == key);
    entry.map(|entry| entry.value.as_str())
}

/// Reads a file of weights of at most `most` bytes, which is in the directory of the model itself.
fn file(name: &str, path: Option<&Path>, most: u64) -> Result<Vec<u8>, Error> {
    let parts: Vec<Component<'_>> = Path::new(name).components().collect();
    let [Component::Normal(_)] = parts[..] else {
        return Err(Error::new(
            format!("its weights are in `{name}`, not a file of its directory"),
            "export it with the weights beside the model, or in it",
        ));
    };
    let path =
        path.ok_or_else(|| Error::from(format!("its weights are in another file, {name}")))?;
    input::file(&path.with_file_name(name), most).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let what = format!("missing {name}, which contains its weights");
            Error::new(what, "put it beside the model, as the export wrote it")
        }
        ErrorKind::FileTooLarge => too_long(),
        _ => format!("cannot read {name}, which contains its weights: {error}").into(),
    })
}

/// Returns the bytes of a tensor in a file of weights.
fn part<'a>(tensor: &Tensor, name: &str, file: &'a [u8]) -> Result<&'a [u8], Error> {
    let number = |key: &str| said(tensor, key).map(str::parse::<u64>).transpose();
    let wrong = |what: String| {
        let what = format!("weights `{}` in {name}: {what}", tensor.name);
        Error::new(what, "export the model again, and keep both files")
    };
    let (Ok(offset), Ok(length)) = (number("offset"), number("length")) else {
        return Err(wrong("invalid offset or length".to_string()));
    };
    let needed = tensor.bytes().ok_or_else(|| wrong("unknown type or shape".to_string()))?;
    let offset = offset.unwrap_or(0);
    let length = length.unwrap_or(needed);
    if length != needed {
        return Err(wrong(format!("{length} bytes, but the shape takes {needed}")));
    }
    let range = offset..offset.saturating_add(length);
    let found = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
    found.and_then(|(start, end)| file.get(start..end)).ok_or_else(|| {
        wrong(format!("bytes {offset} to {} of a file of {}", range.end, file.len()))
    })
}
