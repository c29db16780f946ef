# An image with the program alone, which runs as any user and needs no network. From a clone:
#
#     docker build -t heatwalk .
#     docker run --rm heatwalk demo
#     docker run --rm -v "$PWD:/data" -u "$(id -u)" heatwalk classify edges.tsv --labels known.tsv -o out.tsv
#
# The base image has an exact version in place of a digest, which only its registry has; to pin the bytes too,
# append the @sha256:… that docker buildx imagetools inspect golang:1.26.8 prints.
FROM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# Any user may write to /data, the folder of the user's files. It has the temporary ones too.
RUN mkdir -p -m 1777 /image/data && cp LICENSE /image && scripts/program "linux/$(go env GOARCH)" /image/heatwalk

FROM scratch
COPY --from=build /image /
WORKDIR /data
ENV TMPDIR=/data
USER 65532:65532
ENTRYPOINT ["/heatwalk"]
CMD ["demo"]
