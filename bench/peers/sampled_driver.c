// sampled_driver L.petsc COPIES ROW...: eight columns of L⁺ of a connected graph by conjugate gradients with an approximate Cholesky
// factor, written from Gao, Kyng and Spielman, "Robust and practical solution of Laplacian equations by approximate
// elimination" (2023). COPIES 1 is their AC: samples of one pair are merged when one of its ends is eliminated. COPIES 2 is
// AC2: each edge begins as two of half the weight, and at most two remain of a pair. Nodes are eliminated by their number of
// edges at that time. Prints as petsc_driver.c does. One thread; all columns in one block, in the order of elimination.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { int to, next, twin; double weight; } Half; // half of an edge, in the list of one end

enum { columns = 8 };
static int n, *first, *degree;
static Half *half;
static int *ptr, *col; // the matrix, from 0 the Laplacian's
static double *val;

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static uint64_t state = 1;
static double uniform(void) { // xorshift*
  state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
  return (double)(state * 2685821657736338717u >> 11) * 0x1p-53;
}

// Nodes by degree, in lists of both directions.
static int *bucket, *before, *after, lowest;
static int key(int d) { return d <= n ? d : n + d / n; }
static void enqueue(int v) {
  int k = key(degree[v]);
  before[v] = -1, after[v] = bucket[k];
  if (bucket[k] >= 0) before[bucket[k]] = v;
  bucket[k] = v;
  if (k < lowest) lowest = k;
}
static void dequeue(int v) {
  if (after[v] >= 0) before[after[v]] = before[v];
  if (before[v] >= 0) after[before[v]] = after[v];
  else bucket[key(degree[v])] = after[v];
}
static void change(int v, int by) { dequeue(v), degree[v] += by, enqueue(v); }

typedef struct { int v, begin, end; double weight; } Neighbour; // its halves are twins[begin:end]
static int compare(const void *a, const void *b) {
  double x = ((const Neighbour *)a)->weight, y = ((const Neighbour *)b)->weight;
  return x < y ? -1 : x > y;
}
static void sort(Neighbour *list, int count) { // the lightest first
  if (count > 32) {
    qsort(list, count, sizeof *list, compare);
    return;
  }
  for (int i = 1, k; i < count; i++) {
    Neighbour moved = list[i];
    for (k = i; k > 0 && list[k - 1].weight > moved.weight; k--) list[k] = list[k - 1];
    list[k] = moved;
  }
}

// The factor: column c belongs to node order[c].
static int *order, *place, *begin, *row;
static double *entry, *pivot;

static void factor(int copies) {
  int m = copies * ptr[n], top = 0, free_entries = m + n;
  size_t buckets = n + m / n + 2;
  half = malloc(sizeof(Half) * m);
  first = malloc(4 * n), degree = calloc(n, 4);
  bucket = malloc(4 * buckets), before = malloc(4 * n), after = malloc(4 * n);
  order = malloc(4 * n), place = malloc(4 * n), begin = malloc(4 * (n + 1)), pivot = calloc(n, 8);
  row = malloc(4 * (size_t)free_entries), entry = malloc(8 * (size_t)free_entries);
  int *slot = malloc(4 * n), *mark = malloc(4 * n), *twins = malloc(4 * m);
  double *sums = malloc(8 * n);
  Neighbour *near = malloc(sizeof(Neighbour) * n);
  memset(first, -1, 4 * n), memset(mark, -1, 4 * n), memset(bucket, -1, 4 * buckets);
  for (int v = 0; v < n; v++)
    for (int e = ptr[v]; e < ptr[v + 1]; e++)
      for (int c = 0; c < copies && col[e] < v; c++, top += 2) {
        int u = col[e];
        half[top] = (Half){u, first[v], top + 1, -val[e] / copies}, first[v] = top;
        half[top + 1] = (Half){v, first[u], top, -val[e] / copies}, first[u] = top + 1;
        degree[u]++, degree[v]++;
      }
  lowest = n;
  for (int v = n - 1; v >= 0; v--) enqueue(v);
  begin[0] = 0;
  for (int c = 0; c < n; c++) {
    while (bucket[lowest] < 0) lowest++;
    int v = bucket[lowest], count = 0, size = begin[c];
    dequeue(v);
    order[c] = v, place[v] = c;
    // The neighbours with their weights, then their halves side by side.
    for (int h = first[v]; h >= 0; h = half[h].next) {
      if (half[h].weight == 0) continue; // its other end is eliminated, or it was merged
      int u = half[h].to;
      if (mark[u] != c) mark[u] = c, slot[u] = count, near[count++] = (Neighbour){u, 0, 0, 0};
      near[slot[u]].weight += half[h].weight, near[slot[u]].end++;
    }
    int total = 0;
    for (int i = 0; i < count; i++) near[i].begin = total, total += near[i].end, near[i].end = near[i].begin;
    for (int h = first[v], next; h >= 0; h = next) {
      next = half[h].next;
      if (half[h].weight == 0) continue;
      Neighbour *u = &near[slot[half[h].to]];
      if (u->end - u->begin < copies) twins[u->end++] = h;
      else half[half[h].twin].weight = 0, change(u->v, -1);
    }
    sort(near, count);
    double sum = 0;
    for (int i = 0; i < count; i++) sums[i] = sum += near[i].weight;
    if (size + count > free_entries) {
      free_entries = 2 * free_entries + count;
      row = realloc(row, 4 * (size_t)free_entries), entry = realloc(entry, 8 * (size_t)free_entries);
    }
    for (int i = 0; i < count; i++) {
      Neighbour *u = &near[i];
      row[size] = u->v, entry[size++] = u->weight / sum;
      double rest = sum - sums[i];
      for (int t = u->begin; t < u->end; t++) {
        int mine = twins[t], theirs = half[mine].twin;
        if (i == count - 1 || rest <= 0) { // no later neighbour
          half[theirs].weight = 0, change(u->v, -1);
          continue;
        }
        double draw = sums[i] + uniform() * rest;
        int lo = i + 1, hi = count - 1;
        while (lo < hi) {
          int middle = (lo + hi) / 2;
          if (sums[middle] > draw) hi = middle;
          else lo = middle + 1;
        }
        // The half of v becomes that of the drawn neighbour.
        int k = near[lo].v;
        half[theirs].to = k, half[mine].to = u->v, half[mine].next = first[k], first[k] = mine;
        half[theirs].weight = half[mine].weight = u->weight / (u->end - u->begin) * rest / sum;
        change(k, 1);
      }
    }
    pivot[c] = sum, begin[c + 1] = size;
  }
  for (int e = 0; e < begin[n]; e++) row[e] = place[row[e]];
  free(half), free(twins);
}

// renumber puts the matrix into the order of elimination.
static void renumber(void) {
  int *p = malloc(4 * (n + 1)), *q = malloc(4 * ptr[n]), at = 0;
  double *w = malloc(8 * ptr[n]);
  for (int c = p[0] = 0; c < n; p[++c] = at)
    for (int e = ptr[order[c]]; e < ptr[order[c] + 1]; e++) q[at] = place[col[e]], w[at++] = val[e];
  ptr = p, col = q, val = w;
}

static void precondition(double *z, const double *r) {
  memcpy(z, r, 8 * (size_t)n * columns);
  for (int c = 0; c < n; c++) {
    double *y = z + (size_t)c * columns;
    for (int e = begin[c]; e < begin[c + 1]; e++)
      for (int j = 0; j < columns; j++) z[(size_t)row[e] * columns + j] += entry[e] * y[j];
    for (int j = 0; j < columns; j++) y[j] = pivot[c] > 0 ? y[j] / pivot[c] : 0;
  }
  for (int c = n - 1; c >= 0; c--)
    for (int e = begin[c]; e < begin[c + 1]; e++)
      for (int j = 0; j < columns; j++) z[(size_t)c * columns + j] += entry[e] * z[(size_t)row[e] * columns + j];
}

static void multiply(double *y, const double *x) {
  for (int i = 0; i < n; i++) {
    double sum[columns] = {0};
    for (int e = ptr[i]; e < ptr[i + 1]; e++)
      for (int j = 0; j < columns; j++) sum[j] += val[e] * x[(size_t)col[e] * columns + j];
    memcpy(y + (size_t)i * columns, sum, 8 * columns);
  }
}

static void dots(double *out, const double *a, const double *b) { // with b NULL the means of a
  memset(out, 0, 8 * columns);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < columns; j++) out[j] += a[(size_t)i * columns + j] * (b ? b[(size_t)i * columns + j] : 1. / n);
}

static void center(double *z) {
  double mean[columns];
  dots(mean, z, NULL);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < columns; j++) z[(size_t)i * columns + j] -= mean[j];
}

int main(int argc, char **argv) {
  FILE *f = fopen(argv[1], "rb");
  uint32_t head[4];
  if (!f || argc != 3 + columns || fread(head, 4, 4, f) != 4) return 1;
  n = __builtin_bswap32(head[1]);
  int nnz = __builtin_bswap32(head[3]);
  ptr = calloc(n + 1, 4), col = malloc(4 * nnz), val = malloc(8 * nnz);
  if (fread(ptr + 1, 4, n, f) != (size_t)n || fread(col, 4, nnz, f) != (size_t)nnz || fread(val, 8, nnz, f) != (size_t)nnz) return 1;
  for (int i = 0; i < n; i++) ptr[i + 1] = ptr[i] + __builtin_bswap32(ptr[i + 1]);
  for (int e = 0; e < nnz; e++) {
    uint64_t bits;
    memcpy(&bits, &val[e], 8), bits = __builtin_bswap64(bits), memcpy(&val[e], &bits, 8);
    col[e] = __builtin_bswap32(col[e]);
  }
  double started = seconds();
  factor(atoi(argv[2]));
  renumber();
  double ready = seconds();
  size_t bytes = 8 * (size_t)n * columns;
  double *x = calloc(bytes, 1), *r = malloc(bytes), *z = malloc(bytes), *p = calloc(bytes, 1), *q = malloc(bytes);
  double rz[columns], old[columns] = {0}, pq[columns], rr[columns], size[columns];
  for (int i = 0; i < n * columns; i++) r[i] = -1. / n;
  for (int j = 0; j < columns; j++) r[(size_t)place[atoi(argv[3 + j])] * columns + j] += 1;
  dots(size, r, r);
  int step = 0;
  for (int open = 1; open && step < 10000; step++) {
    precondition(z, r), center(z);
    dots(rz, r, z);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < columns; j++)
        p[(size_t)i * columns + j] = z[(size_t)i * columns + j] + (old[j] > 0 ? rz[j] / old[j] * p[(size_t)i * columns + j] : 0);
    multiply(q, p);
    dots(pq, p, q);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < columns; j++) {
        double a = pq[j] > 0 ? rz[j] / pq[j] : 0;
        x[(size_t)i * columns + j] += a * p[(size_t)i * columns + j], r[(size_t)i * columns + j] -= a * q[(size_t)i * columns + j];
      }
    memcpy(old, rz, sizeof old);
    dots(rr, r, r);
    open = 0;
    for (int j = 0; j < columns; j++) open |= rr[j] > 1e-16 * size[j];
  }
  center(x);
  printf("%.4f %.4f %d", ready - started, seconds() - ready, step);
  for (int j = 0; j < columns; j++) printf(" %.10g", x[(size_t)place[atoi(argv[3 + j])] * columns + j]);
  printf("\n");
}
