import { describe, expect, it } from "vitest";
import type { ImportedRequest } from "./imported";
import { MAX_LETTERS, readImport } from "./read-import";

async function requestsOf(text: string): Promise<ImportedRequest[]> {
  const imported = await readImport(text);
  if ("problem" in imported) throw new Error(imported.problem);
  return imported.requests;
}

async function problemOf(text: string): Promise<string | undefined> {
  const imported = await readImport(text);
  return "problem" in imported ? imported.problem : undefined;
}

const one = async (text: string) => (await requestsOf(text))[0] as ImportedRequest;
const names = (request: ImportedRequest | undefined) => request?.part.parameters.map(({ name }) => name);

describe("a cURL command", () => {
  it("becomes a request with its fields as arguments, and leaves secrets out", async () => {
    const request =
      await one(`$ curl -sSL -XPOST 'https://api.example.com/v1/orders/{order_id}/notes?lang=en&api_key=s3' \\
      -H "Authorization: Bearer abc" -H 'X-Shop: "Oslo"' -H 'Content-Type: application/json' \\
      --data-raw $'{"text": "It\\'s late", "urgent": true, "tags": ["a"], "count": 2}' | jq .`);
    expect(request.part).toMatchObject({
      name: "post_orders_notes",
      method: "POST",
      url: "https://api.example.com/v1/orders/{{order_id}}/notes?lang={{lang}}",
      headers: 'X-Shop: "Oslo"',
      hasSideEffects: true,
    });
    expect(request.part.parameters).toEqual([
      { name: "order_id", type: "string", description: "", required: true },
      { name: "lang", type: "string", description: "For example: en", required: true },
      { name: "text", type: "string", description: "For example: It's late", required: true },
      { name: "urgent", type: "boolean", description: "For example: true", required: true },
      { name: "tags", type: "array", description: 'For example: ["a"]', required: true },
      { name: "count", type: "number", description: "For example: 2", required: true },
    ]);
    expect(request.notices.join(" ")).toContain("“Authorization”");
    expect(JSON.stringify(request)).not.toMatch(/Bearer|s3/);
  });

  it.each([
    ["curl example.com/a", "GET", "https://example.com/a"],
    ["curl -X delete https://x.example/a/$ID", "DELETE", "https://x.example/a/{{id}}"],
    ["curl --url https://x.example/:id -I -X GET", "GET", "https://x.example/{{id}}"],
    ["curl -G https://x.example/a -d q=tea", "GET", "https://x.example/a?q={{q}}"],
    ["curl https://x.example -d a=1", "POST", "https://x.example"],
    ["curl ^\r\n https://x.example/b", "GET", "https://x.example/b"],
  ])("%s", async (command, method, url) => {
    expect((await one(command)).part).toMatchObject({ method, url });
  });

  it("says what it cannot take over", async () => {
    const form = await one("curl https://x.example -d 'first name=Ana&b=2' -u me:pw");
    expect(names(form)).toEqual(["first_name", "b"]);
    expect(form.notices).toEqual([
      "The command's login was left out. Choose a credential instead.",
      "The command sends a form. Tools send the same fields as JSON.",
      "“first name” cannot be used as an argument name. The field is sent as “first_name”.",
    ]);
    expect((await one("curl https://x.example -d @body.json")).notices[0]).toContain("from a file");
  });

  it.each([
    ["curl -X POST", "The cURL command has no URL."],
    ["curl 'https://x.example", "The cURL command ends inside a quoted string. Copy the whole command."],
    ["curl -X TRACE https://x.example", "The command sends TRACE. Tools can send GET, POST, PUT, PATCH, DELETE."],
    ["curl ftp://x.example/a", "“ftp://x.example/a” is not a web address that a tool can call."],
  ])("%s is refused with a reason", async (command, reason) => {
    expect(await problemOf(command)).toBe(reason);
  });
});

const YAML = `
openapi: 3.1.0
servers: [{url: "https://{region}.example.com/v2/", variables: {region: {default: eu}}}]
security: [{key: []}]
paths:
  /orders/{order-id}:
    parameters:
      - {name: order-id, in: path, required: true, schema: {type: integer}, description: The number}
    get:
      operationId: getOrder
      summary: Finds an order
      parameters:
        - {name: expand, in: query, schema: {type: string, enum: [items, customer]}}
        - {name: "filter[a]", in: query, schema: {type: string}}
        - {name: X-Tenant, in: header, required: true, schema: {type: string}}
    post:
      requestBody: {$ref: "#/components/requestBodies/Change"}
components:
  requestBodies:
    Change: {content: {application/json: {schema: {$ref: "#/components/schemas/Change"}}}}
  schemas:
    Change:
      allOf:
        - {type: object, required: [day], properties: {day: {type: string, format: date, description: New day}}}
        - {properties: {id: {type: string, readOnly: true}, address: {$ref: "#/components/schemas/Address"}}}
    Address: {type: object, properties: {street: {type: string}, next: {$ref: "#/components/schemas/Address"}}}
`;

describe("an OpenAPI document", () => {
  it("becomes a request for each operation", async () => {
    const [get, post] = await requestsOf(YAML);
    expect(get).toMatchObject({ title: "GET /orders/{order-id}", summary: "Finds an order" });
    expect(get?.part).toEqual({
      name: "get_order",
      description: "Finds an order",
      url: "https://eu.example.com/v2/orders/{{order_id}}",
      method: "GET",
      headers: "X-Tenant: {{x_tenant}}",
      parameters: [
        { name: "order_id", type: "number", description: "The number", required: true },
        { name: "x_tenant", type: "string", description: "", required: true },
        { name: "expand", type: "string", description: "One of: items, customer.", required: false },
      ],
      hasSideEffects: false,
    });
    expect(get?.notices).toEqual([
      "“filter[a]” (query) was left out.",
      "This request requires authentication. Choose a credential for it.",
    ]);
    expect(post?.part).toMatchObject({ name: "post_orders", hasSideEffects: true });
    expect(post?.part.parameters).toEqual([
      { name: "order_id", type: "number", description: "The number", required: true },
      { name: "day", type: "string", description: "New day As 2026-01-31.", required: true },
      {
        name: "address",
        type: "object",
        description: expect.stringContaining("As {street: string, next: {street: string, next: object}}.") as string,
        required: false,
      },
    ]);
  });

  it("may be Swagger 2", async () => {
    const swagger = {
      swagger: "2.0",
      host: "x.example",
      basePath: "/api",
      schemes: ["http", "https"],
      paths: {
        "/a": {
          put: {
            parameters: [
              { name: "dry", in: "query", type: "boolean", required: true },
              { name: "body", in: "body", schema: { properties: { n: { type: "number" } } } },
            ],
          },
        },
      },
    };
    const request = await one(JSON.stringify(swagger));
    expect(request.part.url).toBe("https://x.example/api/a?dry={{dry}}");
    expect(request.part.parameters.map(({ name, type }) => [name, type])).toEqual([
      ["dry", "boolean"],
      ["n", "number"],
    ]);
  });

  it("may leave out what its paths have in braces", async () => {
    const parameters = [{ name: "day", in: "path", required: true, schema: { type: "integer" } }];
    const paths = { "/orders/{id}/{day}/{line-number}": { get: { parameters } } };
    const request = await one(JSON.stringify({ openapi: "3.1.0", servers: [{ url: "https://x.example" }], paths }));
    expect(request.part).toMatchObject({
      name: "get_orders",
      url: "https://x.example/orders/{{id}}/{{day}}/{{line_number}}",
    });
    expect(request.part.parameters).toEqual([
      { name: "day", type: "number", description: "", required: true },
      { name: "id", type: "string", description: "", required: true },
      { name: "line_number", type: "string", description: "", required: true },
    ]);
  });

  it("keeps the 40 arguments that a tool can have, required ones first", async () => {
    const properties = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`p${at}`, { type: "string" }]));
    const schema = { type: "object", required: ["p49"], properties };
    const post = { requestBody: { content: { "application/json": { schema } } } };
    const request = await one(JSON.stringify({ openapi: "3.0.0", paths: { "/a": { post } } }));
    expect([names(request)?.length, names(request)?.[0]]).toEqual([40, "p49"]);
    expect(request.notices).toEqual([
      "The document does not name a server. Add its address before the path.",
      "A tool can have 40 arguments; 10 were left out.",
    ]);
  });

  it.each([
    ["hello", "This is neither a cURL command nor an OpenAPI document."],
    ['{"info": {"schema": "postman"}}', "This is neither a cURL command nor an OpenAPI document."],
    ['{"openapi": "3.0.0", ', "The document has an error on line 1:"],
    ["openapi: 3.0.0\npaths:\n  a: [", "The document has an error on line 3:"],
    ["openapi: 4.0.0", "OpenAPI 4.0.0 is not supported. Use OpenAPI 3 or Swagger 2.0."],
    ["openapi: 3.0.0\npaths: {}", "The document has no operations that a tool can call."],
    ["openapi ".repeat(MAX_LETTERS / 8 + 1), "The document is too large. The limit is 20 MB."],
  ])("case %# is refused with a reason", async (text, reason) => {
    expect(await problemOf(text)).toContain(reason);
  });

  it("that goes in circles comes to an end, and so does a long word", async () => {
    const circle = { $ref: "#/components/schemas/A" };
    const schemas = { A: { allOf: [circle, circle], oneOf: [circle, circle], properties: { a: circle, b: circle } } };
    const get = { parameters: [{ name: "q", in: "query", schema: circle }] };
    const post = { requestBody: { content: { "application/json": { schema: circle } } } };
    const document = { openapi: "3.0.0", components: { schemas }, paths: { "/a": { get, post } } };
    const began = performance.now();
    expect(await requestsOf(JSON.stringify(document))).toHaveLength(2);
    await problemOf(`curl https://x.example/${"{a".repeat(400)}?${"a".repeat(800)} -H ${"x-token-".repeat(100)}`);
    expect(performance.now() - began).toBeLessThan(3000);
  });
});
