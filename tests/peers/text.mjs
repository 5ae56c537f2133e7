// SPDX-License-Identifier: Apache-2.0
// What a text recognition model says, and how far that is from the truth.

// The lines of an output [lines, places, letters + 1 or 2]: the best letter of each place, class 0
// being none and a letter that goes on counting once.
export function decode({shape, data}, letters) {
  const [lines, places, classes] = shape;
  return Array.from({length: lines}, (_, line) => {
    let text = '';
    let before = 0;
    for (let place = 0; place < places; ++place) {
      const at = (line * places + place) * classes;
      let best = 0;
      for (let i = 1; i < classes; ++i) if (data[at + i] > data[at + best]) best = i;
      if (best !== 0 && best !== before) text += letters[best - 1] ?? ' ';
      before = best;
    }
    return text;
  });
}

// The fewest letters to insert, drop or change that make one text of the other.
export function lettersApart(a, b) {
  let row = Array.from({length: b.length + 1}, (_, i) => i);
  for (let i = 1; i <= a.length; ++i) {
    const next = [i];
    for (let j = 1; j <= b.length; ++j) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}
