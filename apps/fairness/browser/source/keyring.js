/**
 * Which keys may sign records, at which index of the log.
 *
 * Protocol: section 2, section 17 point 5; codes key_record, key_unknown, key_revoked.
 */

import { ed25519, unhex } from "./bytes.js";
import { keyId } from "./shapes.js";

export class KeyRing {
  /** @param {string|null} root hex of the root key that the first key record must add; null takes whichever. */
  constructor(root) {
    this.root = root;
    this.started = false;
    this.all = new Map();
    this.roots = new Map();
    this.records = new Map();
  }

  /**
   * Follow the next key record; its effect counts even where something is wrong with it.  Which root keys are live
   * follows from the order of the key entries alone.
   *
   * Returns what is wrong, null where it is a legal next key record.
   */
  async apply(record, index) {
    const { op, use, pk } = record.body;
    const problem = await this.signerProblem(record);
    this.started = true;
    const name = `${use} ${pk}`;
    const known = this.all.get(name);
    if (op === "revoke") {
      if (known === undefined || known.revoked !== null) return problem ?? `a ${use} key is revoked that is not live`;
      known.revoked = index;
      return problem;
    }
    if (known !== undefined) return problem ?? `the ${use} key was added before`;
    const key = { use, publicKey: unhex(pk), added: index, revoked: null };
    this.all.set(name, key);
    if (use === "root") this.roots.set(await keyId(key.publicKey), key);
    if (use === "records") this.records.set(await keyId(key.publicKey), key);
    return problem;
  }

  async signerProblem(record) {
    const { op, use, pk } = record.body;
    if (!this.started) {
      if (op !== "add" || use !== "root") return "the first key record does not add a root key";
      if (this.root !== null && pk !== this.root) return "the first key record does not add the trusted root key";
      const own = record.kid === (await keyId(unhex(pk))) && (await ed25519(unhex(pk), record.message, record.sig));
      return own ? null : "the first key record is not signed by the key it adds";
    }
    const signer = this.roots.get(record.kid);
    if (signer === undefined || signer.revoked !== null) {
      return "a key record is not signed by a live root key";
    }
    const signed = await ed25519(signer.publicKey, record.message, record.sig);
    return signed ? null : "the signature of a key record does not verify";
  }

  /** Return the key that signs a record at this index, null where there is none, and the code of what is wrong. */
  recordsKey(kid, index) {
    const key = this.records.get(kid);
    if (key === undefined || key.added >= index) return [null, "key_unknown"];
    return [key.publicKey, key.revoked !== null && key.revoked < index ? "key_revoked" : null];
  }

  /** Return the keys added for signing checkpoints, those that were revoked since too. */
  logKeys() {
    return [...this.all.values()].filter((key) => key.use === "log").map((key) => key.publicKey);
  }
}
