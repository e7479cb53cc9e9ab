BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Storage') X
          XXXXX gettext(u'What takes the space, and what nothing refers to.') XX
  XXXXXXXXX
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBBBBBBB B B
      XXXXX XXXXXXXXXX XXXXXX XXXXXXXXXXXXX
        XXXXXXX XXXXXXXXXXXXXX
                XXXXXXXXXXX
                XXXXXXXXXXXX pgettext(u'spoken label', u'Team') XX
          XXXXXXX XXXXXXXXX pgettext(u'choice', u'All teams') XXXXXXXXX
          BBB BBB BB BBBBB
            XXXXXXX XXXXXXXX BB BBBBBBBB BB BBBBXXXXXXXXBBBBBXXXXXXXXXX
          BBBBBB
        XXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXXX pgettext(u'button', u'Show') XXXXXXXXX
      XXXXXXX
    BBBBB
    BB BBB BB BBBBB BBB BBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'By kind') X XXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXX XXXXXXXXXXXXXXXXXXXXXXXX
            XXXX
              XXX XXXXXXXXXXXX pgettext(u'column, type', u'Kind') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'part of the whole', u'Share') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Number') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Size') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBBBBBB BBBBB BB BBBBBB
              XXXX
                XXX XXXXXXXXXXXXXFFFFFFFFFFXXXXX
                XXX XXXXXXXXXXXXXXXXXXX XXXXXXX
                  XXXXXXXXX XXXXXX
                            XXXXXXXX
                            XXXXXXXXXXXXFFFFFFFFFFXXXXXXXXXXXXX
                XXXXX
                XXX XXXXXXXXXX XXXXXXXFFFFFFFFFFFFFFFFXXXXX
                XXX XXXXXXXXXX XXXXXXXXFFFFXXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXXX
            XXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Name') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column, type', u'Kind') XXXXX
              XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Size') XXXXX
              BB BBB BB BBBBBBBB
                XXX XXXXXXXXXXXX pgettext(u'column', u'Why') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Next step') XXXXX
              BBBB
                XXX XXXXXXXXXXXX pgettext(u'column', u'Details') XXXXX
              BBBBB
              XXX XXXXXXXXXXXX pgettext(u'column', u'Owner') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBBBBBB BBBB BBBBBB BBBBBBBBB BB BBBB
              XXX XXXXXXXXXXXXX
                XXX XXXXXXXXXXX XXXXXX
                  XX XXXXXXXXXXXXX XXXXXXXXXXXX
                XXXXX
                XXX XXXXXXXXXXXXX XXXXXXXFFFFFFFFFFXXXXX
                XXX XXXXXXXXXX XXXXXXXXBB BBBBBBBBBFFFFBBBBBXXXXX
                BB BBB BB BBBBBBBB
                  XXX XXXXXXXXXXXXXXFFFFFFFFFFXXXXX
                  XXXX
                    XX XXXXXXXXXXXXX XXXXXXXXFFFFFFFFFFXXXX
                  XXXXX
                BBBB
                  XXX XXXXXXXXXXXX XXXXXXFFFFFFFFFFXXXXX
                BBBBB
                XXX XXXXXXXXXXXX XXXXXX
                   XXXXX XXXXXXXXXXXXXXXXXXXXX
                XXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
    BBBB BBB BB BBBBBBBB
      XXXXXXXX XXXXXXX gettext(u'Nothing is unused') X
               XXXXXXXXXXXXXXX XXXXXXX XXXXXXXXXX
         gettext(u'Data in the trash, files without a version, uploads not completed and versions that nothing refers to appear here.') 
      XXXXXXXXXX
    BBBB
      XXXXXXXX XXXXXXX gettext(u'Nothing stored yet') X
               XXXXXXXXXXXXXXX XXXXXXX XXXXXX XXXXXX XXXXXXXXXXXX
         gettext(u'Datasets, workspaces, checkpoints, models, files of runs and job logs appear here with their sizes.') 
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
