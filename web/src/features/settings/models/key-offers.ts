/** Which vendor a pasted key belongs to, and what that vendor offers for it. */

import { KINDS, type Chosen, type Kind, type Known, type Service } from "./api";

export interface KeyOffer {
  provider: string;
  title: string;
  kinds: Kind[];
}

/** How keys begin, longest prefix first: "sk-ant-" also begins with OpenAI's "sk-". */
const PREFIXES: readonly (readonly [string, string])[] = [
  ["sk-ant-", "anthropic"],
  ["sk_car_", "cartesia"],
  ["gsk_", "groq"],
  ["AIza", "google"],
  ["sk-", "openai"],
  ["sk_", "elevenlabs"],
];

/** Every vendor that needs a key, with all kinds of model that the key opens. */
export function listKeyOffers(known: Known): KeyOffer[] {
  const offers = new Map<string, KeyOffer>();
  for (const kind of KINDS) {
    for (const vendor of known.providers[kind] ?? []) {
      if (!vendor.needs_key) continue;
      const offer = offers.get(vendor.provider) ?? { provider: vendor.provider, title: vendor.title, kinds: [] };
      offers.set(vendor.provider, { ...offer, kinds: [...offer.kinds, kind] });
    }
  }
  return [...offers.values()];
}

/** The vendor whose keys begin like this one; null when the beginning says nothing. */
export function guessProvider(key: string, offers: readonly KeyOffer[]): string | null {
  const provider = PREFIXES.find(([prefix]) => key.startsWith(prefix))?.[1];
  return offers.some((offer) => offer.provider === provider) ? (provider ?? null) : null;
}

/** The kinds that a key fills unless the user says otherwise: not those that another vendor was chosen for. */
export function kindsToFill(offer: KeyOffer, chosen: Chosen): Kind[] {
  return offer.kinds.filter((kind) => {
    const current = chosen[kind]?.provider ?? "builtin";
    return current === "builtin" || current === offer.provider;
  });
}

/** Services with the vendor's defaults: a model or address typed in for an earlier key does not go with this one. */
export function servicesWithKey(provider: string, key: string, kinds: readonly Kind[]): Partial<Record<Kind, Service>> {
  return Object.fromEntries(kinds.map((kind) => [kind, { provider, api_key: key }]));
}
