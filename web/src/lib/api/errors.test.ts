import { describe, expect, it, vi } from "vitest";
import { ConnectionError, errorFrom, fieldErrors, formError, fetchOrFail, messageOf } from "./errors";

describe("an error answer", () => {
  it("shows the sentence of the server and keeps its code", () => {
    const error = errorFrom(401, { detail: "This link was used already.", code: "link_used" });
    expect(error).toMatchObject({ status: 401, code: "link_used", message: "This link was used already." });
  });

  it("names the field of an invalid body", () => {
    const error = errorFrom(422, {
      detail: [
        {
          loc: ["body", "password"],
          msg: "String should have at least 8 characters",
          type: "string_too_short",
          limit: 8,
        },
        { loc: ["body"], msg: "Value error, something is off.", type: "value_error" },
      ],
    });
    expect(error.message).toBe("Password must have at least 8 characters. Something is off.");
  });

  it("carries the problems of an agent that cannot be published", () => {
    const problem = {
      kind: "node",
      id: "a",
      field: "data.prompt",
      code: "prompt_required",
      message: "Prompt is required.",
    };
    const error = errorFrom(422, { detail: { is_valid: false, errors: [problem] }, code: "workflow_invalid" });
    expect(error.message).toBe("The agent has 1 problem.");
    expect(error.problems).toEqual([problem]);
  });

  it("carries the wrong rows of a file", () => {
    const row = { row: 3, column: "phone_number", message: "not E.164" };
    const error = errorFrom(422, {
      detail: { message: "The contact file has 2 errors", errors: [row], total_errors: 2 },
      code: "contacts_invalid",
    });
    expect(error).toMatchObject({
      code: "contacts_invalid",
      message: "The contact file has 2 errors",
      rows: [row],
      totalRows: 2,
    });
  });

  it.each([
    [500, "<html>", "Server error (500). See the server log for details."],
    [404, null, "Not found."],
    [429, {}, "Too many requests. Wait a moment and try again."],
    [418, { detail: "" }, "The request was rejected (418)."],
    [422, { detail: [] }, "The request was rejected (422)."],
  ])("has words for a %i without a usable body", (status, body, words) => {
    expect(errorFrom(status, body).message).toBe(words);
  });
});

describe("anything thrown", () => {
  it("is said in words", () => {
    expect(messageOf(new ConnectionError())).toBe("Cannot reach the server. Check that it is running.");
    expect(messageOf(new Error("odd"))).toBe("odd");
    expect(messageOf("odd")).toBe("Something went wrong.");
  });

  it("is a lost connection only where a request got no answer", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
    await expect(fetchOrFail("/health")).rejects.toBeInstanceOf(ConnectionError);
    const calledOff = new DOMException("called off", "AbortError");
    vi.stubGlobal("fetch", () => Promise.reject(calledOff));
    await expect(fetchOrFail("/health")).rejects.toBe(calledOff);
    vi.unstubAllGlobals();
  });
});

describe("a form", () => {
  const error = errorFrom(422, {
    detail: [
      { loc: ["body", "name"], msg: "String should have at least 1 character", type: "string_too_short", limit: 1 },
      {
        loc: ["body", "definition", "http_api", "config", "url"],
        msg: "Value error, not an address.",
        type: "value_error",
      },
      { loc: ["body", "role"], msg: "no such role", type: "value_error" },
    ],
  });

  it("finds the sentence of each field, through union tags and into nested values", () => {
    expect(fieldErrors(error, ["name", "definition", "definition.config.url"])).toEqual({
      name: "Name is required.",
      "definition.config.url": "Not an address.",
    });
    expect(fieldErrors(error, ["name"], { name: "What it is called" })).toEqual({
      name: "What it is called is required.",
    });
    expect(fieldErrors(error, ["definition"])).toEqual({ definition: "Not an address." });
  });

  it("says beside the fields only what has no field", () => {
    expect(formError(error, ["name", "definition"])).toBe("Role: No such role.");
    expect(formError(error, ["name", "definition", "role"])).toBeNull();
    expect(formError(errorFrom(409, { detail: "Taken.", code: "taken" }), ["name"])).toBe("Taken.");
    expect(formError(null, ["name"])).toBeNull();
    const refused = errorFrom(422, { detail: "That address is private.", code: "webhook_url_refused" });
    expect(fieldErrors(refused, ["url"])).toEqual({ url: "That address is private." });
    expect([formError(refused, ["url"]), formError(refused, ["name"], { url: "URL" })]).toEqual([
      null,
      "URL: That address is private.",
    ]);
  });

  it("shows a refused model at its field, in the organization's form and in an agent's", () => {
    const unknown = errorFrom(422, {
      detail: "models.llm.model 'gpt-99' is not one of openai's: gpt-4.1.",
      code: "unknown_model",
      field: "models.llm.model",
    });
    expect(fieldErrors(unknown, ["services.llm.model"])).toEqual({
      "services.llm.model": "Model 'gpt-99' is not one of openai's: gpt-4.1.",
    });
    expect(
      fieldErrors(unknown, ["workflow_configurations.models.llm.model"])["workflow_configurations.models.llm.model"],
    ).toContain("gpt-99");
    expect([formError(unknown, ["services.llm.model"]), fieldErrors(unknown, ["services.tts.model"])]).toEqual([
      null,
      {},
    ]);
    const lacking = errorFrom(422, {
      detail: "OpenAI requires an API key.",
      code: "key_missing",
      field: "models.llm.api_key",
    });
    expect(fieldErrors(lacking, ["services.llm.api_key"])).toEqual({
      "services.llm.api_key": "OpenAI requires an API key.",
    });
    const sent = errorFrom(422, {
      detail: [
        {
          loc: ["body", "services", "tts", "speed"],
          msg: "Input should be less than or equal to 4",
          type: "less_than_equal",
          limit: 4,
        },
      ],
    });
    expect(fieldErrors(sent, ["services.tts.speed"])).toEqual({
      "services.tts.speed": "Speed must be less than or equal to 4.",
    });
  });
});
