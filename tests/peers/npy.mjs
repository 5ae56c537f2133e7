// SPDX-License-Identifier: Apache-2.0
// Reads and writes numpy's .npy: {dtype, shape, data}, data a typed array in C order.

// numpy's word -> its letter in the file, and how it is held here.
const DTYPES = {
  bool: ['|b1', Uint8Array],
  int8: ['|i1', Int8Array],
  uint8: ['|u1', Uint8Array],
  int16: ['<i2', Int16Array],
  uint16: ['<u2', Uint16Array],
  int32: ['<i4', Int32Array],
  uint32: ['<u4', Uint32Array],
  int64: ['<i8', BigInt64Array],
  uint64: ['<u8', BigUint64Array],
  float16: ['<f2', Uint16Array],  // as stored: JavaScript has no half precision
  float32: ['<f4', Float32Array],
  float64: ['<f8', Float64Array],
};

const MAGIC = Buffer.from('\x93NUMPY', 'latin1');

export function elementCount(shape) {
  return shape.reduce((product, size) => product * size, 1);
}

export function arrayType(dtype) {
  if (!DTYPES[dtype]) throw new Error(`element type ${dtype} is not one of ${Object.keys(DTYPES)}`);
  return DTYPES[dtype][1];
}

function parseHeader(text, name) {
  const descr = /'descr':\s*'([^']*)'/.exec(text)?.[1];
  const order = /'fortran_order':\s*(True|False)/.exec(text)?.[1];
  const shape = /'shape':\s*\(([^)]*)\)/.exec(text)?.[1];
  if (descr === undefined || order === undefined || shape === undefined) {
    throw new Error(`${name}: not a header of a plain array: ${text.trim()}`);
  }
  if (order === 'True') throw new Error(`${name}: arrays in Fortran order are not read`);
  const dtype = Object.keys(DTYPES).find((word) => DTYPES[word][0] === descr);
  if (!dtype) throw new Error(`${name}: elements of type '${descr}' are not read`);
  return {dtype, shape: shape.split(',').map((s) => s.trim()).filter(Boolean).map(Number)};
}

// `name` is for messages.
export function parseNpy(buffer, name) {
  if (buffer.length < 10 || !buffer.subarray(0, 6).equals(MAGIC)) {
    throw new Error(`${name}: not an .npy file`);
  }
  const wide = buffer[6] >= 2;
  const start = wide ? 12 : 10;
  const end = start + (wide ? buffer.readUInt32LE(8) : buffer.readUInt16LE(8));
  const {dtype, shape} = parseHeader(buffer.toString('latin1', start, end), name);
  const Type = arrayType(dtype);
  const bytes = elementCount(shape) * Type.BYTES_PER_ELEMENT;
  if (buffer.length < end + bytes) {
    throw new Error(`${name}: ${buffer.length - end} bytes of data, ${bytes} needed`);
  }
  // Copied, because a view would have to be aligned.
  const data = new Type(new Uint8Array(buffer.subarray(end, end + bytes)).buffer);
  return {dtype, shape, data};
}

export function formatNpy({dtype, shape, data}) {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const text = `{'descr': '${DTYPES[dtype][0]}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const padded = text.padEnd(Math.ceil((10 + text.length + 1) / 64) * 64 - 11) + '\n';
  const size = Buffer.alloc(2);
  size.writeUInt16LE(padded.length);
  return Buffer.concat([
    MAGIC, Buffer.from([1, 0]), size, Buffer.from(padded, 'latin1'),
    Buffer.from(data.buffer, data.byteOffset, data.byteLength),
  ]);
}
