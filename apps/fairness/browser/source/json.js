/**
 * Strict JSON in, canonical JSON out.
 *
 * Protocol: section 1 (RFC 8785 with ASCII names, integers within 2^53-1, nesting of at most 32, no lone surrogates).
 * The browser's own JSON.parse would take the last of two members of one name and round a number: what two readers can
 * understand differently is refused here.  Objects have no prototype, so that a member may have any name.
 */

export const INTEGER_MAX = Number.MAX_SAFE_INTEGER;
const NESTING_MAX = 32;

/** The text is not strict JSON. */
export class NotStrict extends Error {}

const NUMBER = /-?(?:0|[1-9][0-9]*)/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const SPACE = /[ \t\n\r]*/y;
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const WORDS = { t: ["true", true], f: ["false", false], n: ["null", null] };

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) throw new NotStrict(`not JSON at character ${this.at}`);
    this.at = pattern.lastIndex;
    return found[0];
  }

  next() {
    this.take(SPACE);
    return this.text[this.at];
  }

  expect(character) {
    if (this.next() !== character) throw new NotStrict(`${character} is missing at character ${this.at}`);
    this.at += 1;
  }

  value(nesting) {
    const first = this.next();
    if (first === "{" || first === "[") {
      if (nesting >= NESTING_MAX) throw new NotStrict("nesting is deeper than 32");
      this.at += 1;
      return first === "{" ? this.members(nesting + 1) : this.items(nesting + 1);
    }
    if (first === '"') return this.string();
    const word = WORDS[first];
    if (word !== undefined && this.text.startsWith(word[0], this.at)) {
      this.at += word[0].length;
      return word[1];
    }
    return this.number();
  }

  members(nesting) {
    const result = Object.create(null);
    if (this.next() === "}") {
      this.at += 1;
      return result;
    }
    for (;;) {
      if (this.next() !== '"') throw new NotStrict(`the name of a member is missing at character ${this.at}`);
      const name = this.string();
      if (name in result) throw new NotStrict("an object names a member twice");
      if (/[^\x00-\x7f]/.test(name)) throw new NotStrict("the name of a member is not ASCII");
      this.expect(":");
      result[name] = this.value(nesting);
      if (this.next() === "}") break;
      this.expect(",");
    }
    this.at += 1;
    return result;
  }

  items(nesting) {
    const result = [];
    if (this.next() === "]") {
      this.at += 1;
      return result;
    }
    for (;;) {
      result.push(this.value(nesting));
      if (this.next() === "]") break;
      this.expect(",");
    }
    this.at += 1;
    return result;
  }

  string() {
    this.at += 1;
    let result = "";
    for (;;) {
      result += this.take(PLAIN);
      const end = this.text[this.at];
      if (end === '"') break;
      if (end !== "\\") throw new NotStrict("a string does not end, or holds a control character");
      const escape = this.text[this.at + 1];
      const digits = this.text.slice(this.at + 2, this.at + 6);
      if (escape === "u" && /^[0-9a-fA-F]{4}$/.test(digits)) {
        result += String.fromCharCode(parseInt(digits, 16));
        this.at += 6;
      } else if (escape !== undefined && escape in ESCAPES) {
        result += ESCAPES[escape];
        this.at += 2;
      } else {
        throw new NotStrict("a string holds an escape that JSON does not know");
      }
    }
    this.at += 1;
    if (LONE.test(result)) throw new NotStrict("a string holds a lone surrogate");
    return result;
  }

  number() {
    const digits = this.take(NUMBER);
    const after = this.text[this.at];
    if (after === "." || after === "e" || after === "E") throw new NotStrict("a number is not an integer");
    if (digits === "-0") throw new NotStrict("the number -0 is not allowed");
    const value = Number(digits);
    if (!Number.isSafeInteger(value)) throw new NotStrict("a number is beyond 2^53-1");
    return value;
  }
}

/**
 * Read strict JSON, canonical or not.
 *
 * @param {string|Uint8Array} data text, or bytes of UTF-8.
 * @throws {NotStrict}
 */
export function jsonRead(data) {
  let text = data;
  if (typeof data !== "string") {
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
    } catch {
      throw new NotStrict("not UTF-8");
    }
  }
  const reader = new Reader(text);
  const value = reader.value(0);
  if (reader.next() !== undefined) throw new NotStrict("something follows the end of the document");
  return value;
}

/** Return the canonical text of a value that was read here or is made of such. */
export function jsonText(value) {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  if (isObject(value)) {
    const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${jsonText(value[name])}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value);
}

/**
 * Read JSON that must be canonical already, byte for byte.
 *
 * @throws {NotStrict}
 */
export function jsonReadCanonical(text) {
  const value = jsonRead(text);
  if (jsonText(value) !== text) throw new NotStrict("not in canonical form");
  return value;
}

/** Tell whether a value is an object and no list. */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tell whether two JSON values are equal. */
export function same(a, b) {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, n) => same(item, b[n]));
  if (!isObject(a)) return a === b;
  if (!isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => name in b && same(a[name], b[name]));
}
