BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  BBBBBBB BBBBBBBBBBBBBBBBBBBBB
  XXXX XXXXXXXXXXXX XXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'General') XX
      XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
        BBBBBBBBBB
        XXXX XXXXXXXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
            XXXXXX XXXXXXXXXXX
                   XXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXX
          XXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'field', u'Default branch') XX
            XXXXXXX XXXXXXXXXXXXXXXXXXXXXX
              BBB BBB BB BBBBBBBB
                XXXXXXX BB BBBBBBBB BB BBBBBBBBBBBBBBBBBBBBBBBBBXXXXXXXXBBBBBXXXXXXXXXX
              BBBBBB
            XXXXXXXXX
          XXXXXXXXXX
        XXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Description') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXX
                 XXXXXXXXX
        XXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
        XXXXXX
      XXXXXXX
    XXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Shared teams') X
             XXXXXXXFFFFFFXX
      XXXXXXX XXXXXXXXXXXXXXX
        BB BBBBBBBBBBB
          XXXXXXX XXXXXXXXXX XXXXXX
                  XXXXXXXXXXXXX
                  XXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button, give access', u'Share') XXXXXXXXX
        BBBBB
      XXXXXXXXX
      BBB BBBBB BB BBBBBB
        XXXXX XXXXXXXXXXX XXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
          XXXXXXX
          XXXXX XXXXXXXXXXXX XXXXXXX
            BB BBBBBBBBBBBBBBB
               gettext(u'can read and write') 
            BBBB
               pgettext(u'text, datasets', u'can read') 
            BBBBB
          XXXXXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Stop sharing') XXXXXXXXX
        XXXXXXX
      BBBBB
        XX XXXXXXXXXXXX XXXXXXX gettext(u'Let other teams read these files, or also add versions.') XXXX
      BBBBBB
    XXXXXXXXXX
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Retention') X XXXXXXXXXXXXXXX
      XX XXXXXXXXXXXX XXXXXXX
        BB BBBBBBBBBBBBBBBBBBBBBBBB
           gettext(u'These rules are its own.') 
        BBBB
           gettext(u'These are the default rules of the organization. Saving others here makes them its own.') 
        BBBBB
        BB BBBBBBBBBBB
          XX XXXXXXBBB BBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBXX gettext(u'Change the default') XXXX
        BBBBB
      XXXX
      XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
        BBBBBBBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
        BB BBBB
          XXXX XXXXXXXXXXXX XXXXXXXXXXXXXX
            XXX
               ngettext(u'Would delete %(n)s version and free %(size)s.', u'Would delete %(n)s versions and free %(size)s.', count) 
                SSSSS SSSSSS SSSSS SSSSSSS SSS SSSS SSSSSSSSS
              
                PPPPP PPPPPP PPPPP PPPPPPPP PPP PPPP PPPPPPPPP
              
              BB BBBBBBBBBBBBBBBBBBBBB
                 gettext(u'Nothing is deleted under the legal hold.') 
              BBBBB
            XXXX
            BB BBBBB
              XXX XXXXXXXXXXXX XXXXXXX
                BBB BBB BB BBBBBXXXXX FFFFFFFFFFFFFFFF X FFFXXXXXBBBBBB
              XXXXX
            BBBBB
          XXXXXX
        BBBBB
        XXXX XXXXXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX gettext(u'See what would be deleted') XXXXXXXXX
          BB BBBBBBBBBBBBBBBBBBBBBBBB
            XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Use the default') XXXXXXXXX
          BBBBB
          BB BBBBBBBBBBBBB BBB BBB BBBBBBBBBBBBBBBBBBBBB
            XXXXXXX XXXXXXXXXX XXXXXXX
                    XXXXXXXXX
                    XXXXXXXXXXXXX
                    XXXXXXXXXX pgettext(u'button', u'Delete permanently') X
                    XXXXXXXXXXXXXX ngettext(u'Delete %(n)s version permanently and free %(size)s?', u'Delete %(n)s versions permanently and free %(size)s?', count) 
                      SSSSSS SSSSS SSSSSSS SSSSSSSSSSS SSS SSSS SSSSSSSSS
                    
                      PPPPPP PPPPP PPPPPPPP PPPPPPPPPPP PPP PPPP PPPPPPPPP
                    XX pgettext(u'button', u'Delete now') XXXXXXXXX
          BBBBB
        XXXXXX
      XXXXXXX
    XXXXXXXXXX
    BB BBBBBBBB BB BBBBBBBBBBBBBBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Legal hold') XX
        XX XXXXXXXXXXXX XXXXXXX gettext(u'While a reason is set here, neither people nor rules can delete anything.') XXXX
        XXXXX XXXXXXXXXX XXXXXX XXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXX pgettext(u'placeholder, why', u'Reason') X
                 XXXXXXXXXXXX pgettext(u'spoken label, why', u'Reason') X
                 BB BBB BBBBBBBBXXXXXXXXBBBBBX
          BB BBBBBBBB
            XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
          BBBBB
        XXXXXXX
      XXXXXXXXXX
    BBBBB
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Delete') XX
      XXXXX XXXXXXXXXXX XXXXXXXXXXXXXX
        BBBBBBBBBB
        XX XXXXXXXXXXXX XXXXX XXXXXX
           gettext(u'It can be restored from the trash for %(n)s days.') 
            SS SSS SS SSSSSSSS SSSS SSS SSSSS SSS SSSSS SSSSS
          
        XXXX
        XXXXXXX XXXXXXXXXX XXXXXXX
                XXXXXXXXX
                XXXXXXXXXXXXXX
                BB BBBBBBBBBBBBBBBBBBBBBXXXXXXXXBBBBBX pgettext(u'button', u'Move to trash') XXXXXXXXX
      XXXXXXX
    XXXXXXXXXX
  XXXXXX
  BB BBBBBBBBBBB
     pgettext(u'heading', u'Share %(name)s') SSSSS SSSSSSSS
    XXXXXXXXXXXXXX XXXXXXXXXX
                   XXXXXXXXXXXXXX
                   XXXXXXXX pgettext(u'button, give access', u'Share') X
                   XXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Team') XX
        XXXXXXX XXXXXXXXXXXX
          BBB BBB BB BBBBBBBBBBBXXXXXXX XXXXXXXXXXXXXXXXXXBBBBBB
        XXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Access') XX
        XXXXXXX XXXXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXX pgettext(u'choice', u'can read') XXXXXXXXX
          XXXXXXX XXXXXXXXXX gettext(u'can read and write') XXXXXXXXX
        XXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
