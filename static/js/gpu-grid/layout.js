// Where the cells of the grid are: groups on shelves, nodes in columns, GPUs in a node. Pure.
const LARGEST = 22; // pixels of a cell
const HEAD = 18; // pixels of a group's heading
const TALL = 12_000; // pixels; a browser limits the height of a canvas

export class Layout {
  cell = 20; // pixels of a GPU
  across = 4; // GPUs of a node beside each other
  #rows = 1;

  constructor(blocks) {
    this.blocks = blocks;
    this.nodes = blocks.flatMap((block) => block.nodes);
  }

  get gap() {
    return this.cell > 8 ? 6 : 3;
  }

  get wide() {
    return this.across * this.cell + this.gap;
  }

  get high() {
    return this.#rows * this.cell + this.gap;
  }

  // Choose the largest cells with which all groups fit into the room (pixels), at least 4 px, and
  // return the height.
  place(width, room = 420) {
    const most = Math.max(1, ...this.nodes.map(({ gpus }) => gpus.length));
    this.across = most > 4 ? 4 : most;
    this.#rows = Math.ceil(most / this.across);
    for (this.cell = LARGEST; ; this.cell--) {
      const height = this.#shelves(width);
      if (this.cell <= 4 || height <= room) return Math.min(height, TALL);
    }
  }

  #shelves(width) {
    const fits = Math.max(1, Math.floor(width / this.wide));
    let x = 2,
      y = 2,
      shelf = 0;
    for (const block of this.blocks) {
      const head = block.title ? HEAD : 0,
        columns = Math.min(fits, Math.max(1, block.nodes.length)),
        rows = Math.ceil(block.nodes.length / columns);
      block.columns = columns;
      block.width = Math.max(columns * this.wide, head ? 132 : 0) + (head ? 12 : 0);
      if (x > 2 && x + block.width > width) {
        x = 2;
        y += shelf;
        shelf = 0;
      }
      block.x = x;
      block.y = y;
      block.top = y + head;
      block.heading = y + HEAD / 2;
      x += block.width;
      shelf = Math.max(shelf, head + rows * this.high + (head ? 8 : 0));
    }
    return y + shelf + 2;
  }

  corner(block, i) {
    return {
      x: block.x + (i % block.columns) * this.wide,
      y: block.top + Math.floor(i / block.columns) * this.high,
    };
  }

  cornerOf(index) {
    let left = index;
    for (const block of this.blocks) {
      if (left < block.nodes.length) return this.corner(block, left);
      left -= block.nodes.length;
    }
    return { x: 0, y: 0 };
  }

  // The place and the GPU of the node at a point, or null.
  find(x, y) {
    let before = 0;
    for (const block of this.blocks) {
      const column = Math.floor((x - block.x) / this.wide),
        row = Math.floor((y - block.top) / this.high),
        index = row * block.columns + column;
      if (column >= 0 && column < block.columns && row >= 0 && index < block.nodes.length) {
        const inX = x - block.x - column * this.wide,
          inY = y - block.top - row * this.high,
          last = this.across - 1;
        const gpu =
          Math.floor(inY / this.cell) * this.across + Math.min(last, Math.floor(inX / this.cell));
        return { index: before + index, gpu };
      }
      before += block.nodes.length;
    }
    return null;
  }

  // The nearest node above (-1) or below (1) another.
  beside(index, way) {
    const from = this.cornerOf(index);
    let best = index,
      least = Infinity;
    this.nodes.forEach((_, other) => {
      const { x, y } = this.cornerOf(other);
      if ((y - from.y) * way <= 0) return;
      const far = Math.abs(y - from.y) * 4 + Math.abs(x - from.x);
      if (far < least) [best, least] = [other, far];
    });
    return best;
  }
}
