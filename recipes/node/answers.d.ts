// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import type { Duration, JSONObject } from "./index.js";

/** The state of a clock. */
export interface ClockState extends JSONObject {
  /** The clock's time, in ISO 8601 UTC with microseconds. */
  now: string;
  /** The clock's time, in epoch seconds. */
  epoch: number;
  /** The clock's mode: `running` or `frozen`. */
  mode: "running" | "frozen";
  /** Whether an advance reached its target. Only the answer to an advance has it. */
  reached?: boolean;
  /**
   * The amount of work still due up to the target, plus webhook attempts in progress. Only an advance that did not reach its target has it.
   */
  pending?: number;
  /** True if an advance to `next` found no scheduled work, so the clock did not move. Otherwise absent. */
  nothing_due?: boolean;
}

/** A part of a rule or scenario that nothing matches. */
export interface Note extends JSONObject {
  /** The path of the part. */
  field: string;
  problem: string;
  /** Whether a later event can resolve the note, such as the creation of a user. */
  may_change: boolean;
}

/** A fault rule as the control API shows it. */
export interface FaultRule extends JSONObject {
  /** The rule's id. Answers that the rule affects carry it in the header `X-Sim-Fault`. */
  id: string;
  /** The condition as it was sent. */
  match: JSONObject;
  /** The effect as it was sent. */
  effect: JSONObject;
  /** The probability that a matching request triggers the rule, from 0 to 1; null means always. */
  probability: number | null;
  /** The maximum number of times that the rule is triggered; null if unlimited. */
  times: number | null;
  /** The number of matching requests that pass before the rule takes effect. */
  after_requests: number;
  /** The number of requests that the rule has matched. */
  seen: number;
  /** The number of times that the rule has been triggered. */
  hits: number;
  /** Warnings about possible mistakes. */
  notes: string[];
  /** The same notes with their fields. */
  note_details: Note[];
}

/** A rule that decides results. */
export interface OutcomeRule extends JSONObject {
  id: string;
  /** The condition as it was sent. */
  match: JSONObject;
  /** A result of items, or one that a component can have. */
  result: string;
  /** The reason of an invalid result, or null. */
  reason: string | null;
  /** The delay as it was sent. */
  after: string | number | null;
  /** The maximum number of items that the rule decides; null if unlimited. */
  times: number | null;
  /** The number of items that the rule has decided. */
  hits: number;
  /** Warnings about possible mistakes. */
  notes: string[];
  /** The same notes with their fields. */
  note_details: Note[];
}

/** What a fault does: one of these. */
export type FaultEffect =
  /** Answers with a status, and the platform's own body or another one. */
  | {
    status: number;
    /** The body of the answer. A text is sent unchanged, any other value as JSON. The default is the error envelope. */
    body?: unknown;
    /** Headers of the answer, in place of its own, at most 20. Not `Connection`, `Content-Length`, `Date` and `Transfer-Encoding`. */
    headers?: Record<string, string> | null;
  }
  /** Delays the answer in real time, or the webhook on the namespace's clock. */
  | {
    delay: Duration | {
      uniform: [Duration, Duration];
    } | {
      lognormal: {
        median: Duration;
        sigma?: number | null;
      };
    };
  }
  /** Handles the request, sends only the first bytes of the answer's body, and closes the connection. */
  | {
    /** The size that is sent, at most 1,000,000,000 bytes. Answers have the number of bytes. */
    truncate_body: number | string;
  }
  /** Sends the body slowly. */
  | {
    /** The number of bytes per second. */
    slow_body: number;
  }
  /** Handles the request, then closes the connection without an answer. */
  | {
    drop_connection: true;
  }
  /** Closes the connection without handling the request. */
  | {
    lose_request: true;
  }
  /** Holds the request until it is released, or until its time is over. */
  | {
    /** `true` is `before`, for 30 seconds. */
    hold: true | {
      /** Before the request is handled, or after, with its answer kept. */
      when?: "before" | "after" | null;
      /** The real time after which the request goes on by itself, at most 10 minutes. The default is 30 seconds. */
      for?: Duration | null;
    };
  }
  /** Sends JSON that does not parse. */
  | {
    malformed_json: true;
  }
  /** Answers 429, as if a rate limit were exceeded. */
  | {
    /** `true` is `Retry-After: 1`. */
    rate_limit: true | {
      /** What `Retry-After` says, from a second to a day, in whole seconds, rounded up. The default is a second. */
      retry_after?: Duration | null;
    };
  }
  /** Answers 422, as for a damaged image. */
  | {
    image_upload_error: true;
  }
  /** Answers with an error of App Components. */
  | {
    component_error: "Canceled" | "ClientRejected" | "ConfigurationNotSupported" | "InvalidSession" | "InvalidValidationCode" | "SessionExpired" | "InvalidWorkflowStatus" | "DocumentExpired" | "DocumentTypeInvalid" | "DocumentTypeMismatch" | "DocumentTypeNotSupported" | "IssuingCountryNotSupported" | "NationalityNotSupported" | "NoDocumentDetected" | "PersonNotAdult" | "Unexpected" | "DecodingError" | "InvalidFont" | "JSONParseError" | "IncorrectConfiguration";
  }
  /** Ends the caller's session before the request is handled. */
  | {
    expire_session: true;
  }
  /** Does not send the webhook. */
  | {
    drop: true;
  }
  /** Sends the webhook twice. */
  | {
    duplicate: true;
  }
  /** Sends the webhook after the one that follows it. */
  | {
    reorder: true;
  }
  /** Signs the webhook wrongly. */
  | {
    wrong_signature: true;
  };

/** The headers and body of a request or an answer. */
export interface KeptMessage extends JSONObject {
  /** The header fields as pairs of name and value, in the order in which they arrived. */
  headers: Array<string[]>;
  /** The stored part of the body, with secrets masked; null if the body is not text. */
  body: string | null;
  /** The size of the whole body in bytes. */
  bytes: number;
  /** Whether the stored body is shorter than the whole. */
  truncated: boolean;
}

/** A request of the journal, with its answer. */
export interface JournalEntry extends JSONObject {
  /** The id in `X-Request-Id`. Several requests can have the same one. */
  id: string;
  /** The request's own number in the journal. */
  sequence: number;
  at: number;
  method: string;
  /** The path, without the namespace and the query. */
  path: string;
  query: string | null;
  /** The status of the answer, whether or not it reached the client; null if the request was lost before it was handled. */
  status: number | null;
  /**
   * Whether the whole answer left the server. False if a fault lost it, or if the connection failed before the kernel took the last byte.
   * Becomes false later where that shows later.
   */
  delivered: boolean;
  /**
   * The effect of the fault that was triggered, as its rule gave it, for instance `{"drop_connection": true}`. It stays when the rule is
   * deleted.
   */
  effect: JSONObject | null;
  /** The duration in milliseconds of real time. */
  duration_ms: number;
  /** The real time at which the server received the head of the request, in epoch seconds to the microsecond; null if it is not known. */
  started_real: number | null;
  /**
   * The real time at which the client could have the answer, after the delay of a fault, in epoch seconds to the microsecond; null if it is
   * not known.
   */
  ended_real: number | null;
  /** The user of the session. */
  username: string | null;
  /** The `X-Sim-Test` header of the caller. */
  test: string | null;
  decided_by: JSONObject & {
    /** The fault rule that was triggered. */
    fault: string | null;
    /** The exceeded limits. */
    limits: string[];
    /** The outcome rule that decided the item's result. */
    outcome: string | null;
    /** The facts that decided the answer, and what would have changed it. Absent if there are none. */
    facts?: Array<JSONObject & {
      kind: "rule" | "limit" | "setting";
      /** The id of the rule, or the name of the limit or setting. */
      name: string;
      text: string;
      /** A change that would have led to another answer. Absent if that is not known. */
      otherwise?: string;
      /** The id of the object whose history led to it. Absent if there is none. */
      about?: string;
    }>;
    /** The state that refused the request. Absent if none did. */
    state?: JSONObject & {
      /** The id of the object: the subject of the events, or else a value of their data. */
      about: string;
      /** The kinds of events that make the state: the newest one before the request counts. None means that nothing has the id. */
      kinds: string[];
      /** A value that the data of the events has too. Absent if it is not needed. */
      named?: string;
    };
  };
  /**
   * For a 403, 404 or 409, the fact behind it, for instance `the item belongs to DemoOrg-b; the session is DemoOrg-a's`, with secrets
   * masked; for an item that is read without a final result, when that is due: `item AAAA2222 under review, due in 5 s`; for one that ended
   * as `not_supported`, what the catalogue lacks. The caller never sees it, in the body or in a header. Null for other answers.
   */
  because: string | null;
  /**
   * The id of the trace that the request belongs to: 32 hexadecimal digits of its valid `traceparent` header. The webhooks that the request
   * causes go on with it.
   */
  trace: string | null;
  /** The entries of the event log that the request added, those after `after` up to `through`; null if they are not known. */
  changes: null | JSONObject & {
    after: number;
    through: number;
  };
  request?: KeptMessage;
  response?: KeptMessage;
}

/** The state of a delivery. */
export type DeliveryStatus =
  | "waiting" | "sending" | "retrying" | "delivered" | "failed" | "cancelled";

/** An attempt to deliver a webhook. */
export interface DeliveryAttempt extends JSONObject {
  /** The number of the attempt, from 1. */
  number: number;
  /** The start by the namespace's clock, in epoch seconds. */
  at: number;
  /** The status of the answer; null if there was no answer. */
  status: number | null;
  /**
   * The reason for a missing answer, or a note that the answer's body did not end in time, or was cut off because it was too long or came
   * in too many pieces. In these cases the status still counts.
   */
  error: string | null;
  /** The duration in milliseconds of real time. */
  duration_ms: number;
  /** The beginning of the answer's body. */
  answer: string | null;
  /** The fault rule that was triggered for the attempt. */
  fault: string | null;
  /** The form of the signature; null for a verification request to the domain. */
  signature: "sha256-base64" | "sha256-hex" | "hex" | null;
}

/** A delivery of an event, or a verification request to the domain of a subscription. */
export interface Delivery extends JSONObject {
  id: string;
  /** The id of the subscription that it goes to. */
  subscription_id: string;
  /** The URL; null if the subscription was deleted. */
  url: string | null;
  /** The event; `verification` for a verification request to the domain, `session.x_…` with the setting `future.events`. */
  event: "session.completed" | "session.updated" | "support.message" | "certificate.transfer" | "verification" | string;
  /** The event's id. It is the same for every subscription that receives the event. */
  event_id: string;
  /** The form of the body; null for a verification request to the domain. */
  format: "items" | "event" | null;
  /** The event's item; null for a verification request to the domain. */
  entrupy_id: string | null;
  /** The state. A delivery is `waiting` while an earlier one of the same item has not ended. */
  status: DeliveryStatus;
  /** The time of creation, in epoch seconds. */
  created_at: number;
  /** The time of the next attempt, in epoch seconds; null if there is none. */
  next_attempt_at: number | null;
  /**
   * The fault rule that was triggered for the last or next attempt. A delayed or reordered delivery is `retrying` before its first attempt.
   */
  fault: string | null;
  /**
   * Why its next attempt has not begun although its time has come: the bounds of connections to receivers. Absent if it does not wait for a
   * connection.
   */
  held_back?: string;
  /**
   * The id of the delivery that it waits for: the first open one of the same item to the same subscription. Absent if it is not `waiting`.
   */
  waits_for?: string;
  /** The id of what caused the delivery, for `GET /_sim/explain/{id}`; null if it is not known. */
  cause: string | null;
  /** The body that every attempt sends; null for a verification request to the domain. */
  body: JSONObject | null;
  /** The attempts, oldest first. */
  attempts: DeliveryAttempt[];
}

/** A subscription of any organization, without its secret. */
export interface Subscription extends JSONObject {
  id: string;
  /** The name of the organization. */
  organization: string;
  /** The URL that deliveries go to. */
  url: string;
  /** The names of the subscribed events. */
  events: string[];
  /** The user whose items the subscription covers; null for all users. */
  username: string | null;
  /** The version of the items. */
  version: "1.3" | "1.4" | "v2";
  /** The form of the bodies. */
  format: "items" | "event";
  /** The form of the signatures. */
  signature: "sha256-base64" | "sha256-hex" | "hex";
  /** Whether it gets deliveries. It is `pending` until its domain is verified. */
  status: "active" | "pending";
  /** The text that the domain must answer; null if it is not asked. */
  verification: string | null;
  /** The time of creation, in ISO 8601. */
  created_at: string;
  /** The number of deliveries that have not ended. */
  open_deliveries: number;
  /**
   * The newest attempt to reach the receiver, if it failed; null if it succeeded, or there was none among the open deliveries and the
   * newest 1,000 others.
   */
  failing: null | JSONObject & {
    /** The id of the delivery. */
    delivery: string;
    /** The name of its event. */
    event: string;
    /** The number of the attempt, from 1. */
    attempt: number;
    /** The start by the namespace's clock, in epoch seconds. */
    at: number;
    /** The status of the answer; null if there was no answer. */
    status: number | null;
    /** The reason for a missing or refused answer. */
    error: string | null;
  };
}

/** A request that a fault holds. */
export interface HeldRequest extends JSONObject {
  /** The id under which it is released. */
  id: string;
  request: JSONObject & {
    /** The request's id, also in the answer's `X-Request-Id`. */
    id: string;
    /** The number that the request gets in the journal. */
    sequence: number;
    method: string;
    /** Without the namespace and the query. */
    path: string;
    /** The user of the request's session, or of a login's signed request. */
    username: string | null;
    /** The value of `X-Sim-Test`. */
    test: string | null;
    /** The trace id of its `traceparent`. */
    trace: string | null;
  };
  /** Whether it is held before it is handled, or after, with its answer kept. */
  when: "before" | "after";
  /** The real time at which the hold began, in epoch seconds. */
  since: number;
  /** The real time at which the request goes on by itself, in epoch seconds. */
  until: number;
}

/** An item in a list. */
export interface ItemSummary extends JSONObject {
  /** The item's id, as every object of the control API has one. */
  id: string;
  /** The same, under the name that the platform uses. */
  entrupy_id: string;
  /** The user who submitted the item. */
  username: string;
  /** The customer's own id of the item, or null. */
  customer_item_id: string | null;
  /** The brand's id. */
  brand: string;
  /** The brand's name; of one that the catalogue lacks, as it was sent. */
  brand_name: string;
  /** The category's id. */
  product_category: string;
  /** The time of the submission, in epoch seconds. */
  submitted_at: number;
  /** The current result. */
  result: JSONObject & {
    /** The result's id; `ResultID` lists the documented ones. */
    id: "authentic" | "unknown" | "not_supported" | "needs_review" | "invalid" | "analyzed" | "match" | "no_match" | "registered" | "canceled" | "data_required" | "not_available" | "registration_invalid" | "registration_not_supported" | "match_found" | "no_match_found" | "received";
    /** Whether the review is finished. */
    final: boolean;
    /** The id of an invalid result's reason; null otherwise. */
    reason: string | null;
  };
  /** The flag's status. */
  flag: string;
  /** The rule that decided the result. */
  decided_by: "debug_configuration" | "outcome_rule" | "magic_customer_item_id" | "unknown_brand" | "unknown_item_type" | "namespace_default" | "control" | "flag_resolution";
  /** The item's first picture; absent unless `thumbnails=true`. */
  thumbnail?: null | JSONObject & {
    url: string;
    bytes: number;
  };
}

/** An item as the control API shows it: its form in every API, and its history. */
export interface Item extends JSONObject {
  /** The item's id. Every object of the control API has a member with this name. */
  id: string;
  /** The same, under the name that the platform uses. */
  entrupy_id: string;
  /** The name of the item's user. */
  username: string;
  /** The customer's own id of the item, or null. */
  customer_item_id: string | null;
  /** The id of the item's capture; null if it was made without one. */
  capture_id: string | null;
  /** The current result. */
  result: JSONObject & {
    /** The result's id; `ResultID` lists the documented ones. */
    id: "authentic" | "unknown" | "not_supported" | "needs_review" | "invalid" | "analyzed" | "match" | "no_match" | "registered" | "canceled" | "data_required" | "not_available" | "registration_invalid" | "registration_not_supported" | "match_found" | "no_match_found" | "received";
    /** Whether the review is finished. */
    final: boolean;
    /** The id of an invalid result's reason; null otherwise. */
    reason: string | null;
  };
  /** The rule that decided the result, for instance `magic_customer_item_id`. */
  decided_by: "debug_configuration" | "outcome_rule" | "magic_customer_item_id" | "unknown_brand" | "unknown_item_type" | "namespace_default" | "control" | "flag_resolution";
  /** The time at which the pending result is due. */
  result_due_at: number | null;
  /** The current flag. */
  flag: JSONObject & {
    /** The flag's id: `none`, `flagged`, `resolved` or an id set through the control API. */
    id: string;
    /** Whether the user may set a flag. */
    is_flaggable: boolean;
    /** The reason and time; null if there is no flag. */
    flag_info: null | JSONObject & {
      /** The reason's id. */
      id: string;
      /** The reason, in the caller's language. */
      label: string;
      /** The user's message, or null. */
      message: string | null;
      /** The time at which the flag was set. */
      flagged_at: number;
      /** The time at which support resolved the flag, or null. */
      resolved_at: number | null;
      /** The note by support. */
      note: string | null;
    };
  };
  /** The id of the item's certificate, even if it was withdrawn. */
  certificate_id: string | null;
  /** The item's pictures, in the order of the workflow. */
  pictures: Array<JSONObject & {
    /** The region's id. */
    region_id: string;
    /** The URL of the picture. */
    url: string;
    /** The size of the file in bytes. */
    bytes: number;
  }>;
  /** The item's entries in the event log, oldest first. */
  timeline: Array<JSONObject & {
    /** The time of the event, in epoch seconds. */
    at: number;
    /** The event's kind, for instance `result.set`. */
    event: "item.submitted" | "outcome.matched" | "result.set" | "result.changed" | "result.unplanned" | "flag.set" | "flag.cleared" | "flag.resolved" | "catalog.changed" | "market_edge.changed" | "certificate.transferred" | "retake.requested" | "retake.answered" | "support.message" | "support.answered";
    /** The data of the event. */
    data: JSONObject;
  }>;
  /** The item's metadata as it was sent, including unknown members. */
  item: JSONObject;
  /** The market data that the item was given; null if it follows from the item. */
  market_edge: JSONObject | null;
  /** The item as the SDK sees it. */
  sdk: JSONObject;
  /** The item as `/v1` shows it for the highest `Api-Version`. */
  v1: JSONObject;
  /** The item as `/v2` shows it, with images and catalogue data. */
  v2: JSONObject;
}

/** An entry of the event log. */
export interface LoggedEvent extends JSONObject {
  /** The sequence number in the namespace's event log. It survives a restart. */
  sequence: number;
  /** The time of the event by the namespace's clock, in epoch seconds. */
  at: number;
  /** The kind of event, for instance `capture.submitted`. */
  kind: string;
  /** The id of the capture, item or other object that the event concerns. */
  subject: string;
  /** The data of the event. */
  data: JSONObject;
  /**
   * The id of what caused it, for `GET /_sim/explain/{id}`: `sequence:12` is a request, `due:7` scheduled work, `control:3` a call of the
   * control API, others a delivery. Null if it is not known.
   */
  cause: string | null;
}

/** Scheduled work. */
export interface DueWork extends JSONObject {
  /**
   * The kind of work: `capture.timeout`, `result`, `session.expiry`, `webhook.attempt`, `scenario.action` or `component.session.expiry`.
   */
  kind: "capture.timeout" | "result" | "session.expiry" | "webhook.attempt" | "scenario.action" | "component.session.expiry";
  /** The id of a capture, an item, a session or a delivery. */
  subject: string;
  /** The time since which the work is waited for; null if it is not known. */
  since: number | null;
  /** The due time by the namespace's clock, in epoch seconds. */
  at: number;
  /** The time left by the namespace's clock, in seconds. */
  seconds_left: number;
  /** The id of what scheduled it, for `GET /_sim/explain/{id}`; null if it is not known. */
  cause: string | null;
}

/** The chain of causes of something, oldest first. */
export interface Explanation extends JSONObject {
  subject: JSONObject & {
    /** `request`, `item`, `capture`, `session`, `delivery`, `event`, `due_work`, `control`, or `object` for others. */
    kind: string;
    id: string;
  };
  /** The causes and the consequences, oldest first. Steps of the same time stand in the order in which they happened. */
  steps: Array<JSONObject & {
    /** Unique here. `sequence:N`, `event:N`, `due:N`, `control:N` and a delivery's id can be explained too. */
    id: string;
    kind: "request" | "event" | "due_work" | "delivery" | "attempt" | "rule" | "limit" | "setting" | "control" | "scenario";
    /** The time by the namespace's clock, in epoch seconds. */
    at: number;
    /** What happened, with secrets masked. */
    text: string;
    /** The ids of the earlier steps that it follows from. */
    causes: string[];
    /** The path at which the control API shows more. */
    href: string | null;
  }>;
  /** What would have changed a step, noted when it was decided. */
  would_differ: Array<JSONObject & {
    /** The id of the step. */
    step: string;
    /** What would have changed it, in words. */
    text: string;
  }>;
  /** Whether the chain ends where the journal has forgotten a request, or at the bound of 1,000 steps. */
  forgotten: boolean;
}

/** What a client did that it should not. */
export interface AuditFinding extends JSONObject {
  /** The id of the rule, for instance `retry-too-soon`. */
  rule: string;
  level: "error" | "warning";
  /** What happened at the first occurrence, with secrets masked. */
  text: string;
  /** How often it happened. */
  count: number;
  /** The requests of the first occurrences, oldest first; none where the journal has forgotten them, or where no request is to blame. */
  requests: Array<JSONObject & {
    id: string;
    sequence: number;
  }>;
  /** The document that says what a client should do. S and P in brackets are documents of the vendor, D is a decision of this project. */
  source: string;
  /** The header `X-Sim-Test` of the requests. */
  test: string | null;
}

/** What clients did that the vendor or HTTP asks them not to do. */
export interface AuditReport extends JSONObject {
  /** Errors first, then in the order of the rules. */
  findings: AuditFinding[];
  rules: Array<JSONObject & {
    id: string;
    level: "error" | "warning";
    /** The number of requests, captures, retakes or attempts that the rule was applied to. */
    looked_at: number;
    /** Why something could not be judged; null if all was. */
    not_judged: string | null;
  }>;
}

/** An answer, an error, a state or a limit that the platform documents. */
export interface CoverageEdge extends JSONObject {
  /** Unique in its axis, for instance `POST /sdk/login 429` or `started -> timed_out`. */
  id: string;
  /** How often it was met, without a fault. */
  reached: number;
  /** How often a fault made it happen. */
  injected: number;
  /** Whether a healthy server does not show it, so that an injected one counts. */
  fault_only: boolean;
  /** Values of `X-Sim-Test` that met it, with secrets masked; the first 20. */
  tests: string[];
  /** The first that counted; null if nothing did. */
  first: null | JSONObject & {
    namespace: string;
    /**
     * For `GET /_sim/explain/{id}` in that namespace: `sequence:12` is a request, `control:3` a call of the control API. Of an answer that
     * no job of a namespace decided, its request id.
     */
    request: string;
  };
  /** A command that meets it, for a shell with the environment of `entrupy-sim run`; null if it was met. */
  meet_with: string | null;
}

/** Which documented answers, errors, states and limits were met. */
export interface Coverage extends JSONObject {
  /** The real time at which counting began, in epoch seconds. */
  since: number;
  /** Whether counting began when the server was started again, although the namespace, or one of several, is older. */
  since_restart: boolean;
  /**
   * The random ids of the counts that are added up here. A namespace's begins with that of its server and a slash. `coverage merge` adds
   * the same counts up once.
   */
  sources: string[];
  axes: Array<JSONObject & {
    /** `answers`, `sdk_errors`, `results`, `captures`, `flags`, `limits`, `components`, `webhooks` or `scenarios`. */
    id: string;
    title: string;
    /** The number of edges that were met. */
    reached: number;
    /** The number of edges. */
    of: number;
    edges: CoverageEdge[];
  }>;
}

/** The objects in which two states differ. */
export interface Difference extends JSONObject {
  /** Whether no object differs. */
  equal: boolean;
  /** The objects that differ. */
  objects: Array<JSONObject & {
    /** For instance `item`, `capture`, `user`, `session`, `delivery`, `message`, `setting`. */
    kind: string;
    /**
     * The members that tell the object apart, with secrets masked. `nth` is its place among equals, from the second one on. Another object
     * is its key, or the only member of that.
     */
    key: JSONObject;
    /** Whether the second state alone has it, or the first one, or both. */
    change: "added" | "removed" | "changed";
    /** The members that differ; of an object that one state has alone, those that are compared and not null. */
    members: Array<JSONObject & {
      /** For instance `result`, or `item.brand` for a member of an object. */
      name: string;
      /** The value in the first state, with secrets masked; null if it has none. */
      from: unknown;
      /** The value in the second state, as the first. */
      to: unknown;
    }>;
  }>;
  /** The names of members that are not compared by value: of ids, tokens and times only whether there is one. */
  ignored: string[];
  /** Whether there are more objects that differ. */
  truncated: boolean;
}
