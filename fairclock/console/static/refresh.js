// Updates: the page is asked for again and what changed is put in place. Nobody loses focus, scroll or an open list.

const LONGEST_WAIT_SECONDS = 240;

export function keepFresh(root, prepare) {
  const content = root.querySelector("[data-refresh-seconds]");
  const place = root.getElementById("updated");
  if (!content || !place) return;
  const every = Number(content.dataset.refreshSeconds);
  const words = place.dataset;
  const said = place.querySelector("[data-said]");
  const button = place.querySelector("[data-pause]");
  const announcer = root.getElementById("announcer");
  let announced = announcementOf(root);
  let isPaused = false;
  let wait = every;
  let timer = 0;

  const plan = (seconds) => {
    clearTimeout(timer);
    if (!isPaused && !root.hidden) timer = setTimeout(update, seconds * 1000);
  };

  async function update() {
    if (isBusy(root)) return plan(every);
    try {
      const answer = await fetch(location.href, { headers: { "X-Update": "1" }, redirect: "error", cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!fresh.querySelector("[data-live]")) throw new Error("another page");
      if (isPaused) return; // since it was asked for
      swap(root, fresh, prepare);
      const freshSaid = fresh.querySelector("#updated [data-said]");
      said.textContent = freshSaid ? freshSaid.textContent : said.textContent;
      place.classList.remove("is-late");
      wait = every;
      const now = announcementOf(root);
      if (now !== announced) announcer.textContent = announced = now;
    } catch {
      if (isPaused) return;
      if (!place.classList.contains("is-late")) {
        said.textContent = `${words.wordsLate} ${said.textContent}`;
        announcer.textContent = words.wordsLate;
      }
      place.classList.add("is-late");
      wait = Math.min(wait * 2, LONGEST_WAIT_SECONDS);
    }
    plan(wait);
  }

  button.hidden = false;
  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.textContent = isPaused ? words.wordsResume : words.wordsPause;
    if (isPaused) {
      clearTimeout(timer);
      announcer.textContent = words.wordsPaused;
    } else update();
  });
  root.addEventListener("visibilitychange", () => (root.hidden ? clearTimeout(timer) : plan(1)));
  plan(every);
}

function announcementOf(root) {
  const live = root.querySelector("[data-announce]");
  return live ? live.dataset.announce : "";
}

// Somebody who marks text, writes in a field or walks along a chart is not interrupted.
function isBusy(root) {
  const active = root.activeElement;
  const marks = root.getSelection && String(root.getSelection()).length > 0;
  return Boolean(marks || (active && active.matches("input, select, textarea, [data-chart]")));
}

function swap(root, fresh, prepare) {
  for (const old of root.querySelectorAll("[data-live]")) {
    const made = fresh.querySelector(`[data-live="${CSS.escape(old.dataset.live)}"]`);
    if (!made) continue;
    for (const details of old.querySelectorAll("details[open][id]")) {
      const same = made.querySelector(`#${CSS.escape(details.id)}`);
      if (same) same.open = true;
    }
    const focused = old.contains(root.activeElement) ? pathOf(root.activeElement, old) : null;
    const scrolled = [...old.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
    const top = window.scrollY;
    const here = root.importNode(made, true);
    old.replaceWith(here);
    prepare(here);
    here.querySelectorAll(".scroll").forEach((each, index) => (each.scrollLeft = scrolled[index] ?? 0));
    if (focused) find(here, focused)?.focus({ preventScroll: true });
    window.scrollTo({ top, behavior: "instant" });
  }
}

// An element without an id is found again by its address, else by where it stands.
function pathOf(element, within) {
  if (element.id) return { id: element.id };
  const same = (each) => each.tagName === element.tagName && each.getAttribute("href") === element.getAttribute("href");
  return {
    tag: element.tagName.toLowerCase(),
    href: element.getAttribute("href"),
    index: [...within.querySelectorAll(element.tagName)].filter(same).indexOf(element),
  };
}

function find(within, path) {
  if (path.id) return within.querySelector(`#${CSS.escape(path.id)}`);
  const all = [...within.querySelectorAll(path.tag)].filter((each) => each.getAttribute("href") === path.href);
  return all[path.index] ?? all[0] ?? null;
}
