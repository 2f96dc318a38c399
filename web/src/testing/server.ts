/** The API as a test of a form sees it: answers by route, and what was asked. */

interface Answer {
  status?: number;
  body: unknown;
}

export interface SentRequest {
  route: string;
  body: unknown;
}

type Handler = (body: unknown) => Answer | Promise<Answer>;

export class FakeServer {
  /** Requests that change something, in order. */
  readonly sent: SentRequest[] = [];
  private readonly handlers = new Map<string, Handler>();

  /** `route` is method and path, "POST /api/v1/auth/login", with a query only for that query; what no route answers is 404. */
  on(route: string, handler: Handler | Answer): this {
    this.handlers.set(route, typeof handler === "function" ? handler : () => handler);
    return this;
  }

  /** Refuses the body at one field, as the API does. */
  refuse(route: string, loc: (string | number)[], type: string, msg: string, limit?: number): this {
    return this.on(route, { status: 422, body: { detail: [{ loc: ["body", ...loc], type, msg, limit }] } });
  }

  /** Answers when `release` is called. */
  hold(route: string, answer: Answer): () => void {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    this.on(route, async () => {
      await gate;
      return answer;
    });
    return release;
  }

  async fetch(request: Request): Promise<Response> {
    const text = await request.text();
    const content: unknown = text === "" ? undefined : JSON.parse(text);
    const { pathname, search } = new URL(request.url);
    const route = `${request.method} ${pathname}`;
    if (request.method !== "GET") this.sent.push({ route, body: content });
    const handler = this.handlers.get(route + search) ?? this.handlers.get(route);
    const { status = 200, body } = (await handler?.(content)) ?? { status: 404, body: {} };
    return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
  }
}

/** The server that the page talks with; its client keeps the `fetch` that it was made with. */
export const network = {
  server: new FakeServer(),
  pending: new Set<Promise<Response>>(),
  async fetch(request: Request): Promise<Response> {
    const answer = network.server.fetch(request);
    network.pending.add(answer);
    try {
      return await answer;
    } finally {
      network.pending.delete(answer);
    }
  },
};
