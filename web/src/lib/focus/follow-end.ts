/** Keeps the end of what grows in sight, until the reader scrolls up; at the end again, it follows again. */

import { type RefObject, useCallback, useEffect, useRef } from "react";

/** From the end on, in pixels, this still counts as being there. */
const NEAR = 60;

export interface Place {
  scrollTop: number;
  scrollHeight: number;
  clientHeight: number;
}

/** Whether the end is followed after a scroll. One that goes down and is not there yet is our own, under way. */
export function isFollowing(
  before: boolean,
  lastTop: number,
  { scrollTop, scrollHeight, clientHeight }: Place,
): boolean {
  if (scrollHeight - scrollTop - clientHeight < NEAR) return true;
  return before && scrollTop >= lastTop;
}

/** `content` is what grows; gives the handler of the box's scrolling. */
export function useFollowEnd(box: RefObject<HTMLElement | null>, content: unknown, isOn: boolean): () => void {
  const follows = useRef(true);
  const lastTop = useRef(0);
  useEffect(() => {
    const element = box.current;
    if (isOn && element && follows.current) element.scrollTop = element.scrollHeight;
  }, [box, content, isOn]);
  // What appears below it takes some of its height.
  useEffect(() => {
    const element = box.current;
    if (!isOn || element === null) return;
    const watcher = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight;
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [box, isOn]);
  return useCallback(() => {
    const element = box.current;
    if (element === null) return;
    follows.current = isFollowing(follows.current, lastTop.current, element);
    lastTop.current = element.scrollTop;
  }, [box]);
}
