"use strict";
// A user of the app: requests of the platform, as an app and its back end send them.

const { Control } = require("./client.js");
const { SimulatorError } = require("./errors.js");
const { checkOptions, given, short } = require("./text.js");

class User {
  #namespace;
  #control;
  /** The token of the session; null before the first login. */
  #session = null;

  constructor(namespace, control, username) {
    if (typeof username !== "string" || !username) throw new TypeError(`user: username must be a text that is not empty, got ${short(username)}`);
    this.#namespace = namespace;
    this.#control = control;
    this.username = username;
  }

  async login() {
    const { name, token } = await this.#organization();
    const prefix = `${name}-`;
    const id = this.username.startsWith(prefix) ? this.username.slice(prefix.length) : this.username;
    const { signed_authorization_request: signed } = await this.#client(token).object("POST", "/v2/integrations/authorize-user", {
      sdk_authorization_request: "entrupy-sim for Node", unique_user_id: id,
      email: await this.#email(prefix + id) ?? `${encodeURIComponent(id)}@example.com`,
    }, { isLong: true });
    const session = await this.#client().object("POST", "/sdk/login", { signed_authorization_request: signed }, { isLong: true });
    this.username = session.username;
    this.#session = session.token;
    return session.token;
  }

  flag(item, options = {}) {
    checkOptions("flag", options, ["reason", "message"]);
    return this.#changeFlag(item, given({ flag: true, flag_reason_id: options.reason, message: options.message }));
  }

  unflag(item) {
    return this.#changeFlag(item, { flag: false });
  }

  async #changeFlag(item, body) {
    if (this.#session === null) await this.login();
    return this.#client(this.#session).object("PUT", `/sdk/results/${encodeURIComponent(item)}/flag`, body, { isLong: true });
  }

  /** The client of an app with the token of a session, or of a back end with an API token. */
  #client(token) {
    const { address, why, limits } = this.#control;
    return new Control(address, null, why, limits, { ...this.#namespace.headers, ...(token ? { Authorization: `Token ${token}` } : {}) });
  }

  /** The name and the first API token of the user's organization; of the first one that has a token for a unique_user_id. */
  async #organization() {
    const { organizations } = await this.#control.object("GET", "/_sim/export?format=json", undefined, { list: "organizations", isLong: true });
    const found = organizations.find(({ name }) => this.username.startsWith(`${name}-`))
      ?? organizations.find((organization) => organization.api_tokens.length) ?? organizations[0];
    if (!found?.api_tokens.length) {
      throw new SimulatorError(`${this.username} cannot log in: ${found ? `the organization ${found.name}` : "the namespace"} has no API token; `
        + "load seed data with one");
    }
    return { name: found.name, token: found.api_tokens[0] };
  }

  /** The email of the user; null for one who has none or does not exist. */
  async #email(username) {
    try {
      return (await this.#control.object("GET", `/_sim/users/${encodeURIComponent(username)}`)).email;
    } catch (error) {
      if (error.status !== 404) throw error;
      return null;
    }
  }
}

module.exports = { User };
