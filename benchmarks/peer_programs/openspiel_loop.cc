// Random play of OpenSpiel's games in C++, with the view of a learner before every decision.
// Built with the headers of its package, and linked to its library at run time.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "open_spiel/spiel.h"

// Output before a decision: nothing, the legal mask, or the mask and the tensor.
enum Look { kNothing, kMask, kTensor };

// Plays whole games with chance moves; returns the number of decisions without them.
extern "C" long play_games(const char* name, long games, int look, unsigned seed) {
  std::shared_ptr<const open_spiel::Game> game = open_spiel::LoadGame(std::string(name));
  const bool recalls = game->GetType().provides_information_state_tensor;
  std::vector<float> tensor(recalls ? game->InformationStateTensorSize()
                                    : game->ObservationTensorSize());
  std::mt19937 random(seed);
  long decisions = 0;
  volatile float sink = 0;
  for (long i = 0; i < games; ++i) {
    std::unique_ptr<open_spiel::State> state = game->NewInitialState();
    while (!state->IsTerminal()) {
      const std::vector<open_spiel::Action> legal = state->LegalActions();
      if (!state->IsChanceNode()) {
        ++decisions;
        if (look >= kMask) sink = state->LegalActionsMask().back();
        if (look >= kTensor) {
          const open_spiel::Player seat = state->CurrentPlayer();
          if (recalls) {
            state->InformationStateTensor(seat, absl::MakeSpan(tensor));
          } else {
            state->ObservationTensor(seat, absl::MakeSpan(tensor));
          }
          sink = tensor.back();
        }
      }
      state->ApplyAction(legal[(static_cast<unsigned long>(random()) * legal.size()) >> 32]);
    }
  }
  return decisions;
}
